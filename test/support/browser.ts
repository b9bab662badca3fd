/** Chromium for tests: fake cameras, one context per person, and nobody's complaint overlooked. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { executableOf } from '../../scripts/services.ts';

const FLAGS = [
  // Containers run tests as root, and Chromium's sandbox refuses that.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Few pictures a second: four people are twelve streams to encode and to decode, on a machine without a graphics card.
  '--use-fake-device-for-media-stream=fps=10,device-count=3',
  '--use-fake-ui-for-media-stream',
  // Only one of many pages is in front, and the timers of the others must not be slowed down.
  '--disable-renderer-backgrounding',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
];

/** What a person who clicks "block" looks like to the page: the fake devices come with a fake consent to everything. */
const REFUSE_CAMERA = {
  content: `if (navigator.mediaDevices) navigator.mediaDevices.getUserMedia = () =>
    Promise.reject(new DOMException('Permission denied', 'NotAllowedError'));`,
};

export interface PersonOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** The language of the browser. */
  readonly locale?: string;
  /** `denied`: the person has not allowed this page to use camera and microphone. */
  readonly camera?: 'fake' | 'denied';
  /** Run in every page before its own scripts. */
  readonly script?: string;
}

/** Somebody at a browser of their own: what one stores is not seen by another. */
export interface Person extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the page and of its content security policy. */
  readonly complaints: readonly string[];
}

export interface TestBrowser extends AsyncDisposable {
  person(url: string, options?: PersonOptions): Promise<Person>;
}

export interface LaunchOptions {
  /** Keep pages that one leaves, to show them again as they were; what a browser does unless it is told not to. */
  readonly keepsPages?: boolean;
}

export async function launchBrowser({ keepsPages = false }: LaunchOptions = {}): Promise<TestBrowser> {
  const browser = await chromium.launch({
    executablePath: executableOf('chromium'),
    args: FLAGS,
    ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  });
  return {
    person: (url, options = {}) => open(browser, url, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function open(browser: Browser, url: string, options: PersonOptions): Promise<Person> {
  const { width = 1280, height = 800, colorScheme = 'light', locale = 'en', camera = 'fake', script } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale,
    reducedMotion: 'reduce',
  });
  const complaints: string[] = [];
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  if (camera === 'denied') await context.addInitScript(REFUSE_CAMERA);
  if (script !== undefined) await context.addInitScript({ content: script });
  const page = await context.newPage();
  await page.goto(url);
  return { page, context, complaints, [Symbol.asyncDispose]: () => context.close() };
}
