/** A closed client never connects again, and its room ends for the same reason. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client, ClientEnding, Room } from '../../src/client/index.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';
import { barrier, Clients, eventsOf, MemoryStore, next, reaches, twoMembers } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes({ kind: 'redis', count: 2 });
});
afterAll(() => nodes[Symbol.asyncDispose]());

/** A client that tries again does so at once. */
const NO_BACKOFF = { baseMs: 0, maxMs: 0 };

interface Context {
  readonly clients: Clients;
  readonly tcp: TcpSwitch;
  readonly room: Room;
  readonly bens: Room;
  readonly ben: Client;
  readonly store: MemoryStore;
}

const endings: Readonly<
  Record<string, { act: (scene: Context) => Promise<unknown>; ending: ClientEnding; left: boolean }>
> = {
  'closed by itself': { act: ({ ben }) => ben.close(), ending: { reason: 'closed' }, left: true },
  'kicked by the host': {
    act: ({ room, bens }) => room.kick(bens.self.userId),
    ending: { reason: 'kicked' },
    left: true,
  },
  'banned by the host': {
    act: ({ room, bens }) => room.kick(bens.self.userId, { ban: true }),
    ending: { reason: 'banned' },
    left: true,
  },
  'replaced by another connection of the same user, on another node': {
    act: ({ clients, store }) => clients.connect(nodes.url(0), { store: new MemoryStore(store.text) }).ready(),
    ending: { reason: 'replaced' },
    left: false,
  },
};

describe.each(Object.entries(endings))('%s', (_, { act, ending, left }) => {
  test('the client is closed and stays closed', async () => {
    await using tcp = await TcpSwitch.to(nodes.servers[1]?.port ?? 0);
    await using clients = new Clients();
    const store = new MemoryStore();
    const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url], {
      ben: { store, backoff: NO_BACKOFF },
    });
    const states: string[] = [];
    ben.on('state', (state) => states.push(state));
    const [told, seen] = [eventsOf(bens), eventsOf(room)];
    const gone = left ? next(room, 'member:left') : next(room, 'member:back');
    await Promise.all([reaches(ben, 'closed'), act({ clients, tcp, room, bens, ben, store })]);
    await gone;
    expect(ben).toMatchObject({ state: 'closed', ending, room: null });
    // Closing the client leaves the room.
    const roomEnding = ending.reason === 'closed' ? { reason: 'left' } : ending;
    expect(bens.ending).toEqual(roomEnding);
    expect(told).toEqual([`ended ${roomEnding.reason}`]);
    expect(store.text, 'nothing is left that could bring it back').toBeNull();
    // Another attempt of the client would have come before this one.
    const cat = clients.connect(tcp.url);
    await cat.ready();
    expect([tcp.accepted, tcp.welcomes, tcp.open]).toEqual([2, 2, 1]);
    expect(states).toEqual(['closed']);
    await barrier(room);
    const away = seen.filter((words) => words === 'member:away Ben');
    expect([away.length, seen.length]).toEqual(left ? [0, 2] : [1, 3]);
  });

  test('no later request connects it again', async () => {
    await using tcp = await TcpSwitch.to(nodes.servers[1]?.port ?? 0);
    await using clients = new Clients();
    const store = new MemoryStore();
    const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url], {
      ben: { store, backoff: NO_BACKOFF },
    });
    await Promise.all([reaches(ben, 'closed'), act({ clients, tcp, room, bens, ben, store })]);
    const closed = { code: 'CLOSED', retryable: false };
    for (const ask of [() => ben.ready(), () => ben.create(), () => ben.join(room.code), () => bens.message('x')]) {
      await expect(ask()).rejects.toMatchObject(closed);
    }
    await bens.leave();
    await ben.close();
    expect(ben.ending).toMatchObject(ending);
    await clients.connect(tcp.url).ready();
    expect(tcp.accepted).toBe(2);
  });
});

test('a banned user does not get in with a new connection either', async () => {
  await using clients = new Clients();
  const store = new MemoryStore();
  const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(1)], { ben: { store } });
  const { text } = store;
  await Promise.all([reaches(ben, 'closed'), room.kick(bens.self.userId, { ban: true })]);
  const again = clients.connect(nodes.url(1), { store: new MemoryStore(text) });
  expect(await again.ready()).toBeNull();
  expect(again.userId).toBe(ben.userId);
  await expect(again.join(room.code)).rejects.toMatchObject({ code: 'BANNED', retryable: false });
});

test('a listener of the end sees the final state: no room, no connection', async () => {
  await using clients = new Clients();
  const { ben, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(1)]);
  const found: unknown[] = [];
  bens.on('ended', () => found.push([ben.room, ben.state, bens.ending]));
  await ben.close();
  expect(found).toEqual([[null, 'closed', { reason: 'left' }]]);
});
