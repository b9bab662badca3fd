/** The mesh through a real server: with itself, and with peers without a browser and without the SDK. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PeerState, PeerStats } from '../../src/client/index.ts';
import { createServer, type SignalboxServer } from '../../src/index.ts';
import { launchBrowser, type TestBrowser } from '../support/browser.ts';
import { unpackPeer } from '../support/peer-program.ts';
import { type RunningChild, startChild } from '../support/process.ts';

let server: SignalboxServer;
let browser: TestBrowser;
let example: Awaited<ReturnType<typeof unpackPeer>>;

beforeAll(async () => {
  [server, browser, example] = await Promise.all([
    createServer({ host: '127.0.0.1', port: 0, demo: false }),
    launchBrowser(),
    unpackPeer(),
  ]);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await example?.[Symbol.asyncDispose]();
  await server?.close();
});

interface Seen extends PeerStats {
  readonly name: string | null;
  readonly state: PeerState;
  readonly canSend: boolean;
}

/** A page with the SDK and a camera. */
class MeshPage implements AsyncDisposable {
  readonly page: Page;
  readonly #dispose: () => Promise<void>;

  private constructor(page: Page, dispose: () => Promise<void>) {
    this.page = page;
    this.#dispose = dispose;
  }

  /** @param code of the room to join; without one, a room is created. */
  static async come(code?: string): Promise<MeshPage> {
    const person = await browser.person(`http://localhost:${server.port}/healthz`);
    const visitor = new MeshPage(person.page, async () => person[Symbol.asyncDispose]());
    await visitor.enter(code === undefined ? 'client.create()' : `client.join('${code}')`);
    return visitor;
  }

  /** @param how the expression that gets a room. */
  async enter(how: string): Promise<void> {
    await this.page.evaluate(`(async () => {
      const { connect, mesh } = await import('/signalbox.js');
      const client = connect(location.origin, { name: 'Ada' });
      globalThis.room = await ${how};
      globalThis.stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: { width: 160, height: 120 } });
      globalThis.heard = [];
      globalThis.calls = mesh(room, { stream });
      calls.on('data', ({ data }) => heard.push(data));
    })()`);
  }

  code(): Promise<string> {
    return this.page.evaluate<string>('room.code');
  }

  peers(): Promise<Seen[]> {
    return this.page.evaluate<Seen[]>(`Promise.all([...calls.peers.values()].map(async (peer) => ({
      ...(await peer.stats()), name: peer.member.name, state: peer.state, canSend: peer.canSend,
    })))`);
  }

  /** Waits until there is one peer, and it matches. */
  async meets(what: Partial<Seen>): Promise<void> {
    await expect.poll(() => this.peers(), { timeout: 30_000 }).toEqual([expect.objectContaining(what)]);
  }

  async hasPictures(): Promise<void> {
    const count = async (): Promise<number> => (await this.peers())[0]?.framesDecoded ?? 0;
    const before = await count();
    await expect.poll(count, { timeout: 30_000 }).toBeGreaterThan(before);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispose();
  }
}

const startPeer = (...args: string[]): Promise<RunningChild> =>
  startChild({ command: process.execPath, args: [example.path, server.url, ...args] });

test('two pages connect, exchange data, and connect again after a refresh', async () => {
  await using ada = await MeshPage.come();
  await using bob = await MeshPage.come(await ada.code());
  for (const one of [ada, bob]) await one.meets({ state: 'connected', canSend: true, route: 'direct' });
  await Promise.all([ada.hasPictures(), bob.hasPictures()]);
  for (const one of [ada, bob]) {
    await one.page.reload();
    await one.enter('client.ready()');
    for (const side of [ada, bob]) await side.meets({ state: 'connected', canSend: true });
    await Promise.all([ada.hasPictures(), bob.hasPictures()]);
    await ada.page.evaluate(`calls.send('hello')`);
    await expect.poll(() => bob.page.evaluate('heard.splice(0)')).toEqual(['hello']);
  }
});

test('the peer of docs/protocol.md that joins makes an offer, and gets one with media', async () => {
  await using ada = await MeshPage.come();
  await using guest = await startPeer(await ada.code());
  await ada.meets({ state: 'connected', canSend: false });
  expect(guest.lines.filter((line) => !line.startsWith('code'))).toEqual([]);
});

test('the peer of docs/protocol.md that waits answers an offer', async () => {
  await using host = await startPeer();
  const code = (await host.line(/^code \d{6}$/)).slice('code '.length);
  await using ada = await MeshPage.come(code);
  await ada.meets({ state: 'connected', canSend: false });
  await ada.page.reload();
  await ada.enter('client.ready()');
  await ada.meets({ state: 'connected', canSend: false });
  expect(host.lines.filter((line) => !line.startsWith('code'))).toEqual([]);
});

test('a peer without a browser sends and receives video', async () => {
  await using ada = await MeshPage.come();
  await using robot = await startChild({
    command: process.execPath,
    args: ['test/support/node-peer.mjs', server.url, await ada.code()],
  });
  await ada.meets({ state: 'connected', canSend: false, name: 'Robot' });
  await robot.line(/^frames \d+$/);
  await ada.hasPictures();
  expect(robot.lines.filter((line) => /failed|refused/.test(line))).toEqual([]);
});
