/**
 * Chromium as a person has it: tabs of one window, of which one is in front and the others are hidden. Elsewhere the tests
 * keep every page awake; what a browser does to pages that nobody looks at shows only here.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { executableOf } from '../../scripts/services.ts';
import { startChild } from './process.ts';

export interface BackgroundTabs extends AsyncDisposable {
  /** Opens a page in a tab that is hidden at once behind an empty one. */
  open(url: string): Promise<Page>;
  /** Stops the page's clock, its timers and whatever would reach it, as a browser does to a tab long out of sight. */
  freeze(page: Page): Promise<void>;
  thaw(page: Page): Promise<void>;
}

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

export async function openBackgroundTabs(): Promise<BackgroundTabs> {
  const profile = await mkdtemp(join(tmpdir(), 'signalbox-tabs-'));
  const child = await startChild({
    command: executableOf('chromium'),
    args: [
      ...FLAGS,
      '--disable-component-update',
      '--disable-sync',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      // Not the browser's own first page: it is made of many parts, and all of them would be attached to.
      'about:blank',
    ],
    ready: /^DevTools listening on/,
    startMs: 30_000,
  });
  const [, address = ''] = /(ws:\S+)/.exec(await child.line(/^DevTools listening on/)) ?? [];
  // Without its defaults: they make every page believe that it is in front.
  const browser = await chromium.connectOverCDP(address, { noDefaults: true, timeout: 90_000 });
  const [window] = browser.contexts();
  if (window === undefined) throw new Error('the browser has no window');
  const front = await window.newPage();
  const setState = async (page: Page, state: 'frozen' | 'active'): Promise<void> => {
    const devtools = await window.newCDPSession(page);
    await devtools.send('Page.setWebLifecycleState', { state });
    await devtools.detach();
  };
  return {
    open: async (url) => {
      const page = await window.newPage();
      await page.goto(url);
      await front.bringToFront();
      return page;
    },
    freeze: (page) => setState(page, 'frozen'),
    thaw: (page) => setState(page, 'active'),
    [Symbol.asyncDispose]: async () => {
      await browser.close();
      await child.stop();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
