/** In a page: hidden, kept and shown again, frozen, offline. Any `globalThis` that looks like one will do. */
import { getEventListeners } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { ConnectOptions } from '../../src/client/index.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { startProxy } from '../support/proxy.ts';
import { barrier, Clients, eventsOf, MemoryStore, next, reaches, until } from './harness.ts';
import { startHandshakeServer } from './scripted-server.ts';
import { TcpSwitch } from './tcp-switch.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes({ kind: 'memory', count: 1 });
});
afterAll(() => nodes[Symbol.asyncDispose]());
const layWay = () => TcpSwitch.to(nodes.servers[0]?.port ?? 0);

class FakeDocument extends EventTarget {
  visibilityState = 'visible';
}
let window: EventTarget;
let document: FakeDocument;
let navigator: { onLine: boolean };
/** Clients from now on are in a page. */
function openPage(): void {
  window = new EventTarget();
  document = new FakeDocument();
  navigator = { onLine: true };
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
  vi.stubGlobal('removeEventListener', window.removeEventListener.bind(window));
  vi.stubGlobal('document', document);
  vi.stubGlobal('navigator', navigator);
}
afterEach(() => vi.unstubAllGlobals());

const tell = (name: string, more: object = {}) => window.dispatchEvent(Object.assign(new Event(name), more));
const look = (visibilityState: 'visible' | 'hidden') => {
  document.visibilityState = visibilityState;
  document.dispatchEvent(new Event('visibilitychange'));
};

/** No attempt follows by itself. */
const NEVER = { baseMs: 1e9, maxMs: 1e9 };

/** Ann is somewhere else, Ben is in a page. */
async function pairUp(clients: Clients, url: string, options: ConnectOptions = {}) {
  const ann = clients.connect(nodes.url(0), { name: 'Ann' });
  const room = await ann.create();
  openPage();
  const ben = clients.connect(url, { name: 'Ben', ...options });
  const bens = await ben.join(room.code);
  await until(room, ({ members }) => members.length === 2);
  return { ben, room, bens };
}

test('kept and shown again: the others see away at once, and exactly one session is resumed', async () => {
  await using tcp = await layWay();
  await using clients = new Clients();
  const { ben, room, bens } = await pairUp(clients, tcp.url, { store: null, backoff: NEVER });
  const seen = eventsOf(room);
  const away = next(room, 'member:away');
  look('hidden');
  tell('pagehide', { persisted: true });
  document.dispatchEvent(new Event('freeze'));
  expect(ben.state).toBe('reconnecting');
  await away;
  await vi.waitFor(() => expect(tcp.open).toBe(0));
  const resumed = next(bens, 'resumed');
  // Everything that a browser may say of it, and twice.
  document.dispatchEvent(new Event('resume'));
  tell('pageshow', { persisted: true });
  look('visible');
  tell('online');
  look('visible');
  await resumed;
  await reaches(ben, 'online');
  tell('online');
  look('visible');
  await barrier(room, bens);
  expect([tcp.accepted, tcp.welcomes]).toEqual([2, 2]);
  expect(seen.slice(0, -1)).toEqual(['member:away Ben', 'member:back Ben']);
});

test('gone for good, with nothing kept: it leaves at once', async () => {
  await using tcp = await layWay();
  await using clients = new Clients();
  // Ann is somewhere else.
  const { ben, room, bens } = await pairUp(clients, tcp.url, { store: null });
  const left = next(bens, 'ended');
  const seen = next(room, 'member:left');
  tell('pagehide', { persisted: false });
  expect(await left).toEqual({ reason: 'left' });
  expect([ben.state, ben.ending]).toEqual(['closed', { reason: 'closed' }]);
  tell('pageshow', { persisted: false });
  await reaches(clients.connect(nodes.url(0)), 'online');
  expect((await seen).reason).toBe('left');
});

test('gone, with its token kept: the seat is kept for the page that comes next', async () => {
  await using tcp = await layWay();
  await using clients = new Clients();
  const store = new MemoryStore();
  const { ben, room } = await pairUp(clients, tcp.url, { store: store });
  const seen = eventsOf(room);
  const away = next(room, 'member:away', ({ member }) => member.name === 'Ben');
  tell('pagehide', { persisted: false });
  tell('pageshow');
  await away;
  await reaches(ben, 'reconnecting');
  const loaded = clients.connect(tcp.url, { store });
  const seat = await loaded.ready();
  expect(seat?.self).toMatchObject({ name: 'Ben', seq: 2, state: 'present' });
  await until(room, ({ members }) => members[1]?.state === 'present');
  expect(seen.filter((words) => /left|joined/.test(words))).toEqual([]);
});

test('the device loses its network and has it again: offline, and back without waiting out the back-off', async () => {
  await using tcp = await layWay();
  await using clients = new Clients();
  const { ben, bens } = await pairUp(clients, tcp.url, { backoff: NEVER });
  const states: string[] = [];
  ben.on('state', (state) => states.push(state));
  navigator.onLine = false;
  tcp.block();
  tell('offline');
  await reaches(ben, 'offline');
  tell('offline');
  const resumed = next(bens, 'resumed');
  tcp.clear();
  navigator.onLine = true;
  tell('online');
  await resumed;
  await reaches(ben, 'online');
  expect(states).toEqual(['offline', 'reconnecting', 'online']);
});

test('loaded without a network: offline from the beginning, connecting as soon as there is one', async () => {
  await using tcp = await layWay();
  await using clients = new Clients();
  openPage();
  navigator.onLine = false;
  tcp.block();
  const client = clients.connect(tcp.url, { backoff: NEVER });
  expect(client.state).toBe('offline');
  await next(client, 'retry');
  expect(client.state).toBe('offline');
  tcp.clear();
  navigator.onLine = true;
  tell('online');
  expect(client.state).toBe('connecting');
  await client.ready();
});

test('the wait that a server asks for is not cut short by what the page hears', async () => {
  await using server = await startHandshakeServer(() => ({ code: 'STORE_UNAVAILABLE', detail: { retryAfterMs: 300 } }));
  await using clients = new Clients();
  openPage();
  const client = clients.connect(server.url, { backoff: { baseMs: 0, maxMs: 0 } });
  for (let attempts = 1; attempts <= 3; attempts += 1) {
    await next(client, 'retry');
    for (const name of ['online', 'pageshow', 'offline', 'online']) tell(name);
    look('visible');
    expect(server.attempts).toHaveLength(attempts);
  }
  const times = server.attempts.map(({ at }) => at);
  for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeGreaterThan(298);
});

test('looked at again, a connection that has died meanwhile is noticed in seconds', async () => {
  await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const url = `http://127.0.0.1:${proxy.port}`;
  const { ben, bens } = await pairUp(clients, url);
  proxy.freeze();
  look('hidden');
  const began = performance.now();
  look('visible');
  await reaches(ben, 'reconnecting');
  // Without a look it is noticed by the missing pings, after 15 s.
  expect(performance.now() - began).toBeLessThan(12_000);
  const resumed = next(bens, 'resumed');
  proxy.thaw();
  await resumed;
});

test('looked at again, a connection that lives goes on', async () => {
  await using tcp = await layWay();
  await using clients = new Clients();
  const { ben, room, bens } = await pairUp(clients, tcp.url);
  const states: string[] = [];
  ben.on('state', (state) => states.push(state));
  for (let round = 0; round < 5; round += 1) {
    look('hidden');
    look('visible');
    document.dispatchEvent(new Event('resume'));
    tell('offline');
    tell('online');
  }
  await barrier(bens, room);
  expect([states, tcp.accepted]).toEqual([[], 1]);
});

test('what is told to a closed client comes to nobody', async () => {
  openPage();
  const names = ['online', 'offline', 'pageshow', 'pagehide', 'resume', 'visibilitychange'];
  const listeners = () => names.flatMap((name) => [window, document].flatMap((it) => getEventListeners(it, name)));
  // Socket.IO's client may have its own.
  const before = listeners().length;
  await using clients = new Clients();
  const client = clients.connect(nodes.url(0));
  await client.create();
  expect(listeners().length).toBeGreaterThan(before);
  await client.close();
  expect(listeners().length).toBe(before);
});
