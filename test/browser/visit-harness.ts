/** A host without a browser and a page that uses the SDK alone are in one room; the host records the member events. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import type { ConnectionState, Room } from '../../src/client/index.ts';
import { createServer, type PartialOptions } from '../../src/index.ts';
import { startPageServer } from '../support/page-server.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';

const PATIENCE = { timeout: 30_000 };

export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Between the page and the server; it counts the connections. */
  readonly proxy: TcpProxy;
  /** The events about the visitor that the host has received since the visitor joined. */
  readonly memberEvents: readonly string[];
  /** The states of the page's client, from the first. */
  states(): Promise<ConnectionState[]>;
  /** Resolves when the visitor is in the room again, as the same user, for the page and for the host. */
  back(): Promise<void>;
}

export interface VisitHarness extends AsyncDisposable {
  /** The origin of the pages. */
  readonly origin: string;
  /** @param open opens a page at the address. */
  visit(open: (url: string) => Promise<Page>): Promise<Visit>;
}

/** @param options by default, those of a server that nobody has configured */
export async function openVisitHarness(options: PartialOptions = {}): Promise<VisitHarness> {
  const server = await createServer({ host: '127.0.0.1', port: 0, demo: false, ...options });
  const site = await startPageServer();
  site.put('/elsewhere', '<!doctype html><title>Elsewhere</title>');
  return {
    origin: site.origin,
    visit: async (open) => {
      const proxy = await startProxy(server.port);
      const host = connect(server.url, { name: 'Host', store: null });
      const room = await host.create();
      const path = `/visit-${room.code}`;
      site.put(path, visitorPage(server.url, `http://localhost:${proxy.port}`, room.code));
      return follow(await open(site.origin + path), proxy, room, async () => {
        await host.close();
        await proxy.close();
      });
    },
    [Symbol.asyncDispose]: async () => {
      await site[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

async function follow(page: Page, proxy: TcpProxy, room: Room, end: () => Promise<void>): Promise<Visit> {
  await expect.poll(() => room.members.length, PATIENCE).toBe(2);
  const userId = room.members[1]?.userId;
  const news: string[] = [];
  for (const event of ['joined', 'left', 'away', 'back'] as const) {
    room.on(`member:${event}`, () => news.push(event));
  }
  await settled(page, room);
  return {
    page,
    proxy,
    memberEvents: news,
    states: () => page.evaluate<ConnectionState[]>('states'),
    back: async () => {
      await expect.poll(() => ['back', 'joined'].includes(news.at(-1) ?? ''), PATIENCE).toBe(true);
      await settled(page, room);
      expect(room.members[1]?.userId).toBe(userId);
    },
    [Symbol.asyncDispose]: async () => {
      await page.close();
      await end();
    },
  };
}

/** The visitor's page and the host see the same two people, and the page is online. */
async function settled(page: Page, room: Room): Promise<void> {
  const seen = (): Promise<unknown> =>
    page.evaluate(
      'globalThis.room && client.state === "online" && room.members.map(({ userId, seq }) => [userId, seq])',
    );
  await expect
    .poll(async () => JSON.stringify(await seen().catch(() => null)), PATIENCE)
    .toBe(JSON.stringify(room.members.map(({ userId, seq }) => [userId, seq])));
}

/** The SDK comes from the server itself; only the connection goes through the proxy. */
const visitorPage = (server: string, url: string, code: string): string => `<!doctype html><title>Visit</title>
  <script>
    happened = [];
    addEventListener('pageshow', ({ persisted }) => happened.push(persisted ? 'shown again' : 'shown'));
    for (const name of ['freeze', 'resume']) document.addEventListener(name, () => happened.push(name));
  </script>
  <script type="module">
    import { connect } from '${server}/signalbox.js';
    globalThis.client = connect('${url}', { name: 'Visitor' });
    globalThis.states = [client.state];
    client.on('state', (state) => states.push(state));
    globalThis.room = (await client.ready()) ?? (await client.join('${code}'));
  </script>`;
