/** Events of a page: hidden, cached, shown again, frozen, offline. `globalThis` is made to look like a page. */
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
const startSwitch = () => TcpSwitch.to(nodes.servers[0]?.port ?? 0);

class FakeDocument extends EventTarget {
  visibilityState = 'visible';
}
let window: EventTarget;
let document: FakeDocument;
let navigator: { onLine: boolean };
/** Clients that are created from now on are in a page. */
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

const dispatch = (name: string, more: object = {}) => window.dispatchEvent(Object.assign(new Event(name), more));
const setVisibility = (visibilityState: 'visible' | 'hidden') => {
  document.visibilityState = visibilityState;
  document.dispatchEvent(new Event('visibilitychange'));
};

/** No attempt is made by the back-off. */
const NEVER = { baseMs: 1e9, maxMs: 1e9 };

/** Ann is in no page, Ben is in a page. */
async function twoMembers(clients: Clients, url: string, options: ConnectOptions = {}) {
  const ann = clients.connect(nodes.url(0), { name: 'Ann' });
  const room = await ann.create();
  openPage();
  const ben = clients.connect(url, { name: 'Ben', ...options });
  const bens = await ben.join(room.code);
  await until(room, ({ members }) => members.length === 2);
  return { ben, room, bens };
}

test('a page that is cached and shown again is away at once, and resumes exactly one session', async () => {
  await using tcp = await startSwitch();
  await using clients = new Clients();
  const { ben, room, bens } = await twoMembers(clients, tcp.url, { store: null, backoff: NEVER });
  const seen = eventsOf(room);
  const away = next(room, 'member:away');
  setVisibility('hidden');
  dispatch('pagehide', { persisted: true });
  document.dispatchEvent(new Event('freeze'));
  expect(ben.state).toBe('reconnecting');
  await away;
  await vi.waitFor(() => expect(tcp.open).toBe(0));
  const resumed = next(bens, 'resumed');
  // All events that browsers fire then, each twice.
  document.dispatchEvent(new Event('resume'));
  dispatch('pageshow', { persisted: true });
  setVisibility('visible');
  dispatch('online');
  setVisibility('visible');
  await resumed;
  await reaches(ben, 'online');
  dispatch('online');
  setVisibility('visible');
  await barrier(room, bens);
  expect([tcp.accepted, tcp.welcomes]).toEqual([2, 2]);
  expect(seen.slice(0, -1)).toEqual(['member:away Ben', 'member:back Ben']);
});

test('a page that goes away without a stored token leaves the room at once', async () => {
  await using tcp = await startSwitch();
  await using clients = new Clients();
  // Ann is in no page.
  const { ben, room, bens } = await twoMembers(clients, tcp.url, { store: null });
  const left = next(bens, 'ended');
  const seen = next(room, 'member:left');
  dispatch('pagehide', { persisted: false });
  expect(await left).toEqual({ reason: 'left' });
  expect([ben.state, ben.ending]).toEqual(['closed', { reason: 'closed' }]);
  dispatch('pageshow', { persisted: false });
  await reaches(clients.connect(nodes.url(0)), 'online');
  expect((await seen).reason).toBe('left');
});

test('a page that goes away with a stored token keeps its seat for the next page', async () => {
  await using tcp = await startSwitch();
  await using clients = new Clients();
  const store = new MemoryStore();
  const { ben, room } = await twoMembers(clients, tcp.url, { store: store });
  const seen = eventsOf(room);
  const away = next(room, 'member:away', ({ member }) => member.name === 'Ben');
  dispatch('pagehide', { persisted: false });
  dispatch('pageshow');
  await away;
  await reaches(ben, 'reconnecting');
  const loaded = clients.connect(tcp.url, { store });
  const seat = await loaded.ready();
  expect(seat?.self).toMatchObject({ name: 'Ben', seq: 2, state: 'present' });
  await until(room, ({ members }) => members[1]?.state === 'present');
  expect(seen.filter((words) => /left|joined/.test(words))).toEqual([]);
});

test('a client is offline while the device has no network, and reconnects without waiting for the back-off', async () => {
  await using tcp = await startSwitch();
  await using clients = new Clients();
  const { ben, bens } = await twoMembers(clients, tcp.url, { backoff: NEVER });
  const states: string[] = [];
  ben.on('state', (state) => states.push(state));
  navigator.onLine = false;
  tcp.block();
  dispatch('offline');
  await reaches(ben, 'offline');
  dispatch('offline');
  const resumed = next(bens, 'resumed');
  tcp.clear();
  navigator.onLine = true;
  dispatch('online');
  await resumed;
  await reaches(ben, 'online');
  expect(states).toEqual(['offline', 'reconnecting', 'online']);
});

test('a page that is loaded without a network is offline, and connects as soon as there is one', async () => {
  await using tcp = await startSwitch();
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
  dispatch('online');
  expect(client.state).toBe('connecting');
  await client.ready();
});

test('no event of the page shortens the wait that the server asks for', async () => {
  await using server = await startHandshakeServer(() => ({ code: 'STORE_UNAVAILABLE', detail: { retryAfterMs: 300 } }));
  await using clients = new Clients();
  openPage();
  const client = clients.connect(server.url, { backoff: { baseMs: 0, maxMs: 0 } });
  for (let attempts = 1; attempts <= 3; attempts += 1) {
    await next(client, 'retry');
    for (const name of ['online', 'pageshow', 'offline', 'online']) dispatch(name);
    setVisibility('visible');
    expect(server.attempts).toHaveLength(attempts);
  }
  const times = server.attempts.map(({ at }) => at);
  for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeGreaterThan(298);
});

test('a page that is shown again notices a dead connection within seconds', async () => {
  await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const url = `http://127.0.0.1:${proxy.port}`;
  const { ben, bens } = await twoMembers(clients, url);
  proxy.freeze();
  setVisibility('hidden');
  const began = performance.now();
  setVisibility('visible');
  await reaches(ben, 'reconnecting');
  // Otherwise the missing pings show it, after 15 s.
  expect(performance.now() - began).toBeLessThan(12_000);
  const resumed = next(bens, 'resumed');
  proxy.thaw();
  await resumed;
});

test('a page that is shown again keeps a connection that works', async () => {
  await using tcp = await startSwitch();
  await using clients = new Clients();
  const { ben, room, bens } = await twoMembers(clients, tcp.url);
  const states: string[] = [];
  ben.on('state', (state) => states.push(state));
  for (let round = 0; round < 5; round += 1) {
    setVisibility('hidden');
    setVisibility('visible');
    document.dispatchEvent(new Event('resume'));
    dispatch('offline');
    dispatch('online');
  }
  await barrier(bens, room);
  expect([states, tcp.accepted]).toEqual([[], 1]);
});

test('a closed client has no listeners on the page', async () => {
  openPage();
  const names = ['online', 'offline', 'pageshow', 'pagehide', 'resume', 'visibilitychange'];
  const listeners = () => names.flatMap((name) => [window, document].flatMap((it) => getEventListeners(it, name)));
  // Socket.IO's client may have listeners of its own.
  const before = listeners().length;
  await using clients = new Clients();
  const client = clients.connect(nodes.url(0));
  await client.create();
  expect(listeners().length).toBeGreaterThan(before);
  await client.close();
  expect(listeners().length).toBe(before);
});
