/** In a page: hidden, kept and shown again, frozen, offline. Any `globalThis` that looks like one will do. */
import { getEventListeners } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { ConnectOptions } from '../../src/client/index.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { startProxy } from '../support/proxy.ts';
import { startDoor } from './door.ts';
import { becomes, holds, hush, next, Party, Pocket, story } from './people.ts';
import { Turnout } from './turnout.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes({ kind: 'memory', count: 1 });
});
afterAll(() => nodes[Symbol.asyncDispose]());
const layWay = () => Turnout.lay(nodes.servers[0]?.port ?? 0);

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
async function pairUp(party: Party, url: string, options: ConnectOptions = {}) {
  const ann = party.connect(nodes.url(0), { name: 'Ann' });
  const room = await ann.create();
  openPage();
  const ben = party.connect(url, { name: 'Ben', ...options });
  const bens = await ben.join(room.code);
  await holds(room, ({ members }) => members.length === 2);
  return { ben, room, bens };
}

test('kept and shown again: the others see away at once, and exactly one session is resumed', async () => {
  await using way = await layWay();
  await using party = new Party();
  const { ben, room, bens } = await pairUp(party, way.url, { store: null, backoff: NEVER });
  const seen = story(room);
  const away = next(room, 'member:away');
  look('hidden');
  tell('pagehide', { persisted: true });
  document.dispatchEvent(new Event('freeze'));
  expect(ben.state).toBe('reconnecting');
  await away;
  await vi.waitFor(() => expect(way.open).toBe(0));
  const resumed = next(bens, 'resumed');
  // Everything that a browser may say of it, and twice.
  document.dispatchEvent(new Event('resume'));
  tell('pageshow', { persisted: true });
  look('visible');
  tell('online');
  look('visible');
  await resumed;
  await becomes(ben, 'online');
  tell('online');
  look('visible');
  await hush(room, bens);
  expect([way.accepted, way.welcomes]).toEqual([2, 2]);
  expect(seen.slice(0, -1)).toEqual(['member:away Ben', 'member:back Ben']);
});

test('gone for good, with nothing kept: it leaves at once', async () => {
  await using way = await layWay();
  await using party = new Party();
  // Ann is somewhere else.
  const { ben, room, bens } = await pairUp(party, way.url, { store: null });
  const left = next(bens, 'ended');
  const seen = next(room, 'member:left');
  tell('pagehide', { persisted: false });
  expect(await left).toEqual({ reason: 'left' });
  expect([ben.state, ben.ending]).toEqual(['closed', { reason: 'closed' }]);
  tell('pageshow', { persisted: false });
  await becomes(party.connect(nodes.url(0)), 'online');
  expect((await seen).reason).toBe('left');
});

test('gone, with its token kept: the seat is kept for the page that comes next', async () => {
  await using way = await layWay();
  await using party = new Party();
  const store = new Pocket();
  const { ben, room } = await pairUp(party, way.url, { store: store });
  const seen = story(room);
  const away = next(room, 'member:away', ({ member }) => member.name === 'Ben');
  tell('pagehide', { persisted: false });
  tell('pageshow');
  await away;
  await becomes(ben, 'reconnecting');
  const loaded = party.connect(way.url, { store });
  const seat = await loaded.ready();
  expect(seat?.self).toMatchObject({ name: 'Ben', seq: 2, state: 'present' });
  await holds(room, ({ members }) => members[1]?.state === 'present');
  expect(seen.filter((words) => /left|joined/.test(words))).toEqual([]);
});

test('the device loses its network and has it again: offline, and back without waiting out the back-off', async () => {
  await using way = await layWay();
  await using party = new Party();
  const { ben, bens } = await pairUp(party, way.url, { backoff: NEVER });
  const states: string[] = [];
  ben.on('state', (state) => states.push(state));
  navigator.onLine = false;
  way.block();
  tell('offline');
  await becomes(ben, 'offline');
  tell('offline');
  const resumed = next(bens, 'resumed');
  way.clear();
  navigator.onLine = true;
  tell('online');
  await resumed;
  await becomes(ben, 'online');
  expect(states).toEqual(['offline', 'reconnecting', 'online']);
});

test('loaded without a network: offline from the beginning, connecting as soon as there is one', async () => {
  await using way = await layWay();
  await using party = new Party();
  openPage();
  navigator.onLine = false;
  way.block();
  const client = party.connect(way.url, { backoff: NEVER });
  expect(client.state).toBe('offline');
  await next(client, 'retry');
  expect(client.state).toBe('offline');
  way.clear();
  navigator.onLine = true;
  tell('online');
  expect(client.state).toBe('connecting');
  await client.ready();
});

test('the wait that a server asks for is not cut short by what the page hears', async () => {
  await using door = await startDoor(() => ({ code: 'STORE_UNAVAILABLE', detail: { retryAfterMs: 300 } }));
  await using party = new Party();
  openPage();
  const client = party.connect(door.url, { backoff: { baseMs: 0, maxMs: 0 } });
  for (let attempts = 1; attempts <= 3; attempts += 1) {
    await next(client, 'retry');
    for (const name of ['online', 'pageshow', 'offline', 'online']) tell(name);
    look('visible');
    expect(door.attempts).toHaveLength(attempts);
  }
  const times = door.attempts.map(({ at }) => at);
  for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeGreaterThan(298);
});

test('looked at again, a connection that has died meanwhile is noticed in seconds', async () => {
  await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
  await using party = new Party();
  const url = `http://127.0.0.1:${proxy.port}`;
  const { ben, bens } = await pairUp(party, url);
  proxy.freeze();
  look('hidden');
  const began = performance.now();
  look('visible');
  await becomes(ben, 'reconnecting');
  // Without a look it is noticed by the missing pings, after 15 s.
  expect(performance.now() - began).toBeLessThan(12_000);
  const resumed = next(bens, 'resumed');
  proxy.thaw();
  await resumed;
});

test('looked at again, a connection that lives goes on', async () => {
  await using way = await layWay();
  await using party = new Party();
  const { ben, room, bens } = await pairUp(party, way.url);
  const states: string[] = [];
  ben.on('state', (state) => states.push(state));
  for (let round = 0; round < 5; round += 1) {
    look('hidden');
    look('visible');
    document.dispatchEvent(new Event('resume'));
    tell('offline');
    tell('online');
  }
  await hush(bens, room);
  expect([states, way.accepted]).toEqual([[], 1]);
});

test('what is told to a closed client comes to nobody', async () => {
  openPage();
  const names = ['online', 'offline', 'pageshow', 'pagehide', 'resume', 'visibilitychange'];
  const listeners = () => names.flatMap((name) => [window, document].flatMap((it) => getEventListeners(it, name)));
  // Socket.IO's client may have its own.
  const before = listeners().length;
  await using party = new Party();
  const client = party.connect(nodes.url(0));
  await client.create();
  expect(listeners().length).toBeGreaterThan(before);
  await client.close();
  expect(listeners().length).toBe(before);
});
