/**
 * Drives the demo page: a server, a browser, and callers who press, type and read. Every step waits for its effect.
 *
 *   await using harness = await openHarness();             // a server and a browser
 *   const ada = await harness.caller({ name: 'Ada' });     // the page in a browser context of its own, in the lobby
 *   const bob = await harness.caller({ name: 'Bob' });
 *   await bob.type(await ada.create());                    // creates a room, types its code
 *   await bob.join();                                      // resolves with the first picture of somebody else
 *   await Promise.all([ada.hasMedia(1), bob.hasMedia(1)]); // pictures of so many others keep coming in
 *
 * Without the harness' server: `new Caller(await browser.person(url))`, then `see('#lobby')`.
 */
import type { Page } from 'playwright-core';
import { afterAll, expect, vi } from 'vitest';
import type { PeerReport, SignalboxDemo } from '../../client-demo/src/demo-api.ts';
import { createServer, type PartialOptions, type SignalboxServer } from '../../src/index.ts';
import type { ServerDependencies } from '../../src/server/dependencies.ts';
import { launchBrowser, type Person, type PersonOptions, type TestBrowser } from '../support/browser.ts';

/** Four people are twelve streams to encode and to decode, without a graphics card and beside other tests. */
const PATIENCE_MS = 40_000;

export interface Harness extends AsyncDisposable {
  readonly server: SignalboxServer;
  /** Opens the page; `hash` is what stands behind `#`. */
  caller(options?: CallerOptions): Promise<Caller>;
  /** Opens any page of the server; `path` is what stands behind the first slash. */
  person(path: string, options?: PersonOptions): Promise<Person>;
}

export interface CallerOptions extends PersonOptions {
  readonly name?: string;
  readonly hash?: string;
  /** What stands behind the `?`, such as `relay=only`. */
  readonly search?: string;
  /** Where the page is opened instead of at the server itself. */
  readonly port?: number;
}

/** One browser for all tests of a file: its start takes longer than many tests do, and contexts share nothing. */
let browser: Promise<TestBrowser> | undefined;
afterAll(async () => (await browser)?.[Symbol.asyncDispose]());

/** Starts a server of its own. Disposing closes the server and every page that was opened through the harness. */
export async function openHarness(
  options: PartialOptions = {},
  dependencies: Partial<ServerDependencies> = {},
): Promise<Harness> {
  const server = await createServer({ host: '127.0.0.1', port: 0, ...options }, dependencies);
  browser ??= launchBrowser();
  const shared = await browser;
  const people: Person[] = [];
  const open = async (url: string, personOptions?: PersonOptions): Promise<Person> => {
    const person = await shared.person(url, personOptions);
    people.push(person);
    return person;
  };
  return {
    server,
    person: (path, personOptions) => open(`http://localhost:${server.port}/${path}`, personOptions),
    caller: async ({ name, hash = '', search = '', port = server.port, ...person } = {}) => {
      const query = search === '' ? '' : `?${search}`;
      const caller = new Caller(await open(`http://localhost:${port}/${query}${hash}`, person));
      await caller.see('#lobby');
      if (name !== undefined) await caller.page.locator('#lobby-name').fill(name);
      return caller;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(people.map((person) => person[Symbol.asyncDispose]()));
      await server.close();
    },
  };
}

export class Caller {
  readonly page: Page;
  readonly person: Person;

  constructor(person: Person, page: Page = person.page) {
    this.person = person;
    this.page = page;
  }

  /** Opens a room; resolves with its code as it is shown, `482 913`. */
  async create(): Promise<string> {
    await this.page.locator('#lobby-create').click();
    await this.see('#call');
    return (await this.page.locator('#call-code').textContent()) ?? '';
  }

  async type(code: string): Promise<void> {
    await this.page.locator('#lobby-code').fill(code);
  }

  /** Resolves with the time from the click to the first picture of somebody else. */
  async join(): Promise<number> {
    const start = performance.now();
    await this.page.locator('#lobby-join').click();
    await this.see('#call');
    await this.until((peers) => peers.length > 0 && peers.every(({ framesDecoded }) => framesDecoded > 0), 'media', 10);
    return Math.round(performance.now() - start);
  }

  /** Presses the button with this name. */
  async press(name: string): Promise<void> {
    await this.page.getByRole('button', { name, exact: true }).click();
  }

  /** Opens what can be opened beside the pictures, if it is not open. */
  async open(panel: 'chat' | 'people'): Promise<void> {
    if (await this.page.locator(`#${panel}-panel`).isHidden()) await this.page.locator(`#call-${panel}`).click();
    await this.see(`#${panel}-panel`);
  }

  /** Writes to everyone. */
  async say(text: string): Promise<void> {
    await this.open('chat');
    await this.page.locator('#chat-text').fill(text);
    await this.page.locator('#chat-text').press('Enter');
  }

  async see(selector: string): Promise<void> {
    await this.page.locator(selector).waitFor({ state: 'visible', timeout: PATIENCE_MS });
  }

  /** Waits until this text is on the screen, wherever; what stands in the page but is not shown does not count. */
  async read(text: string | RegExp): Promise<void> {
    await this.page
      .getByText(text)
      .filter({ visible: true })
      .first()
      .waitFor({ state: 'visible', timeout: PATIENCE_MS });
  }

  /** What has been told in the chat so far, line by line. */
  told(): Promise<string[]> {
    return this.page.locator('#chat-log > li').allInnerTexts();
  }

  /** Waits for a line of the chat, whether or not it is on the screen. */
  async tells(line: string): Promise<void> {
    const isTold = async () => (await this.told()).some((one) => one.includes(line));
    await vi.waitFor(async () => expect(await isTold(), line).toBe(true), { timeout: PATIENCE_MS });
  }

  demo<Name extends 'userId' | 'ref' | 'rev' | 'state'>(name: Name): Promise<SignalboxDemo[Name]> {
    return this.page.evaluate<SignalboxDemo[Name]>(`signalboxDemo.${name}`);
  }

  peers(): Promise<PeerReport[]> {
    return this.page.evaluate<PeerReport[]>('signalboxDemo.peers()');
  }

  /** Waits until it holds of the connections with the others; what they were like in the end is told otherwise. */
  async until(holds: (peers: PeerReport[]) => boolean, what: string, interval = 50): Promise<void> {
    let last: PeerReport[] = [];
    const look = async (): Promise<boolean> => {
      last = await this.peers();
      return holds(last);
    };
    try {
      await vi.waitFor(async () => expect(await look(), what).toBe(true), { timeout: PATIENCE_MS, interval });
    } catch (error) {
      throw new Error(`${what}: ${JSON.stringify(last)}`, { cause: error });
    }
  }

  /** Pictures of so many others come in, and go on coming in. */
  async hasMedia(others: number): Promise<void> {
    const before = new Map((await this.peers()).map(({ userId, framesDecoded }) => [userId, framesDecoded]));
    await this.until(
      (peers) =>
        peers.length === others &&
        peers.every(
          ({ userId, connectionState, framesDecoded }) =>
            connectionState === 'connected' && framesDecoded > (before.get(userId) ?? 0),
        ),
      `media of ${others}`,
    );
  }
}
