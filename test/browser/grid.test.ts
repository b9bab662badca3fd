/**
 * Two, three and four pages on three nodes: media both ways between every pair. Then one leaves, one refreshes, one is
 * killed, and the grids of the others show it within the times of docs/architecture.md: at once where the page or its
 * browser can still tell, after the grace where nobody comes back.
 */
import { expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { startNodes } from '../support/nodes.ts';
import { Caller } from './harness.ts';

const NAMES = ['Ada', 'Bob', 'Cleo', 'Dan'] as const;
const GRACE_MS = 4_000;
const TICK_MS = 1_000;

test('the grids of two, three and four pages on three nodes show who is there, whatever happens to one page', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 3 }, { demo: true, graceMs: GRACE_MS, tickMs: TICK_MS });
  await using browser = await launchBrowser();
  const open = async (index: number): Promise<Caller> => {
    const port = nodes.servers[index % 3]?.port;
    const caller = new Caller(await browser.person(`http://localhost:${port}/`, { width: 900, height: 640 }));
    await caller.see('#lobby');
    await caller.page.locator('#lobby-name').fill(NAMES[index] ?? '');
    return caller;
  };

  const ada = await open(0);
  const code = await ada.create();
  const callers = [ada];
  for (let index = 1; index < 4; index += 1) {
    const caller = await open(index);
    await caller.type(code);
    await caller.press('Join');
    callers.push(caller);
    await Promise.all(callers.map((one) => one.hasMedia(index)));
    await show(callers, NAMES.slice(0, index + 1));
  }
  const [, bob, cleo, dan] = callers as [Caller, Caller, Caller, Caller]; // four were just opened

  await dan.press('Leave');
  await show([ada, bob, cleo], ['Ada', 'Bob', 'Cleo']);

  await cleo.page.reload();
  await cleo.see('#call');
  await Promise.all([ada, bob, cleo].map((one) => one.hasMedia(2)));
  await show([ada, bob, cleo], ['Ada', 'Bob', 'Cleo']);

  const killed = performance.now();
  // The answer never comes: there is nobody left who could give it.
  void bob.page.goto('chrome://crash').catch(() => {});
  await Promise.all([ada, cleo].map((one) => one.see('.tile[data-state="away"]')));
  await show([ada, cleo], ['Ada', 'Cleo']);
  expect(performance.now() - killed).toBeGreaterThan(GRACE_MS);
  await Promise.all([ada, cleo].map((one) => one.hasMedia(1)));
  expect([ada, cleo].flatMap(({ person }) => person.complaints)).toEqual([]);
}, 240_000);

/** The grids of those callers have exactly these people, oneself as "You". */
async function show(callers: readonly Caller[], names: readonly string[]): Promise<void> {
  for (const { page } of callers) {
    const own = await page.locator('.tile[data-own="true"] .tile-initials').textContent();
    const expected = names.map((name) => (name[0] === own ? 'You' : name)).sort();
    const shown = async (): Promise<string[]> => (await page.locator('.tile .tile-name').allInnerTexts()).sort();
    await expect.poll(shown, { timeout: 30_000 }).toEqual(expected);
  }
}
