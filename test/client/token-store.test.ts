/** Where the resume token is stored, and which client resumes with it. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { tabStore } from '../../src/client/index.ts';
import { openTokenStore } from '../../src/client/token-store.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { agree, barrier, Clients, eventsOf, MemoryStore, next, reaches, twoMembers, until } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes({ kind: 'redis', count: 2 }, { stunUrls: ['stun:stun.example.org:3478'] });
});
afterAll(() => nodes[Symbol.asyncDispose]());
afterEach(() => vi.unstubAllGlobals());

/** The methods of `sessionStorage` that the SDK uses. */
function stubSessionStorage(): Map<string, string> {
  const items = new Map<string, string>();
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  });
  return items;
}

describe('a reloaded page', () => {
  test('has its old seat, on any node, and replaces the page before it', async () => {
    await using clients = new Clients();
    const store = new MemoryStore();
    const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(1)], { ben: { store } });
    await bens.setProfile({ metadata: { hand: 'up' } });
    for (const it of [room, bens]) await until(it, ({ members }) => members[1]?.metadata !== undefined);
    const seen = eventsOf(room);
    const reloaded = clients.connect(nodes.url(0), { store });
    const given = next(reloaded, 'room');
    const seat = await reloaded.ready();
    expect(seat).toBe(await given);
    expect(seat).toBe(reloaded.room);
    expect(reloaded.userId).toBe(ben.userId);
    expect(seat?.self).toEqual({ ...bens.self, state: 'present' });
    expect(seat?.iceServers).toEqual([{ urls: ['stun:stun.example.org:3478'] }]);
    await reaches(ben, 'closed');
    expect([ben.ending, bens.ending]).toEqual([{ reason: 'replaced' }, { reason: 'replaced' }]);
    await barrier(room, seat ?? undefined);
    expect(seen.slice(0, -1)).toEqual(['member:away Ben', 'member:back Ben']);

    // The replaced client has left the token in the store: the next load finds it.
    const again = clients.connect(nodes.url(1), { store });
    expect((await again.ready())?.self.seq).toBe(2);
    await agree(room, again.room ?? expect.unreachable());
  });

  test('can join another room at once, and has its old one until that succeeds', async () => {
    await using clients = new Clients();
    const store = new MemoryStore();
    const { room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(1)], { ben: { store } });
    const reloaded = clients.connect(nodes.url(0), { store });
    const vacant = room.code === '123456' ? '123457' : '123456';
    await expect(reloaded.join(vacant)).rejects.toMatchObject({ code: 'ROOM_NOT_FOUND' });
    expect(reloaded.room?.ref).toBe(room.ref);
    await until(room, ({ members }) => members[1]?.state === 'present' && members.length === 2);

    const again = clients.connect(nodes.url(1), { store });
    const other = await again.create();
    expect(again.room).toBe(other);
    await until(room, ({ members }) => members.length === 1);
    expect(bens.ending).toEqual({ reason: 'replaced' });
  });

  test('is the same user without a seat; with the token of an expired session it is a new one', async () => {
    await using clients = new Clients();
    const store = new MemoryStore();
    const client = clients.connect(nodes.url(0), { store });
    await client.ready();
    const reloaded = clients.connect(nodes.url(1), { store: new MemoryStore(store.text) });
    expect([await reloaded.ready(), reloaded.userId]).toEqual([null, client.userId]);
    const other = clients.connect(nodes.url(1), { store: new MemoryStore('nonsense') });
    expect([await other.ready(), other.userId === client.userId]).toEqual([null, false]);
  });

  test('is a new user after its client was closed', async () => {
    await using clients = new Clients();
    const store = new MemoryStore();
    const client = clients.connect(nodes.url(0), { store });
    await client.create();
    expect(store.text).not.toBeNull();
    await client.close();
    expect(store.text).toBeNull();
    const reloaded = clients.connect(nodes.url(0), { store });
    expect([await reloaded.ready(), reloaded.userId === client.userId]).toEqual([null, false]);
  });

  test('has its seat if another client was closed before its welcome', async () => {
    await using clients = new Clients();
    const store = new MemoryStore();
    const { room } = await twoMembers(clients, [nodes.url(0), nodes.url(1)], { ben: { store } });
    // As frameworks do that mount a component twice.
    await clients.connect(nodes.url(0), { store }).close();
    const seat = await clients.connect(nodes.url(0), { store }).ready();
    expect([seat?.ref, seat?.self.seq]).toEqual([room.ref, 2]);
  });
});

describe('the default store', () => {
  test('is the sessionStorage of the tab', async () => {
    const items = stubSessionStorage();
    await using clients = new Clients();
    const client = clients.connect(nodes.url(0));
    await client.ready();
    expect([...items.keys()]).toEqual([expect.stringMatching(/^signalbox\.resume/)]);
    await client.close();
    expect([...items.keys()]).toEqual([]);
  });

  test('belongs to one client of a page, and to another one after that was closed', async () => {
    const items = stubSessionStorage();
    await using clients = new Clients();
    const [one, two] = [clients.connect(nodes.url(0)), clients.connect(nodes.url(1))];
    const room = await one.create();
    const seat = await two.join(room.code);
    expect(one.userId).not.toBe(two.userId);
    const kept = [...items];
    await two.close();
    expect([...items]).toEqual(kept);
    await barrier(room);
    expect([one.state, seat.ending]).toEqual(['online', { reason: 'left' }]);
    await one.close();
    const three = clients.connect(nodes.url(0));
    await three.ready();
    expect(items.size).toBe(1);
  });

  test('can be replaced by a store for each client of a page', async () => {
    const items = stubSessionStorage();
    await using clients = new Clients();
    const [one, two] = ['a', 'b'].map((key) => clients.connect(nodes.url(0), { store: tabStore(key) ?? null }));
    await Promise.all([one?.ready(), two?.ready()]);
    expect([...items.keys()].sort()).toEqual(['a', 'b']);
    expect(one?.state).toBe('online');
  });

  test('does not exist in Node, nor with the option null', async () => {
    expect(tabStore()).toBeUndefined();
    const items = stubSessionStorage();
    await using clients = new Clients();
    await clients.connect(nodes.url(0), { store: null }).ready();
    expect(items.size).toBe(0);
  });

  test('does not exist where the storage is blocked', () => {
    vi.stubGlobal('sessionStorage', undefined);
    Object.defineProperty(globalThis, 'sessionStorage', {
      configurable: true,
      get() {
        throw new Error('SecurityError');
      },
    });
    expect(tabStore()).toBeUndefined();
  });
});

test('a client that ends removes only its own token from a store, even if another client has an equal one', () => {
  const store = new MemoryStore();
  const [first, second] = [openTokenStore(store, 'a'), openTokenStore(store, 'a')];
  first.token = 'of-this-very-second';
  second.token = 'of-this-very-second';
  expect(openTokenStore(new MemoryStore(store.text), 'a').token).toBe('of-this-very-second');
  first.close(true);
  expect(store.text).not.toBeNull();
  second.close(true);
  expect(store.text).toBeNull();
});

test('a client works with a store that throws', async () => {
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const fail = () => {
    throw new Error('QuotaExceededError');
  };
  const client = clients.connect(tcp.url, { store: { get: fail, set: fail } });
  const room = await client.create();
  const resumed = next(room, 'resumed');
  tcp.cut();
  await resumed;
  await reaches(client, 'online');
  await client.close();
  expect(client.ending).toEqual({ reason: 'closed' });
});
