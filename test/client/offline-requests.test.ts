/** Requests without a connection wait, are sent in order, and are carried out once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/index.ts';
import { connectClient } from '../support/client.ts';
import { type MemoryNode, startMemoryNode } from '../support/memory-node.ts';
import { agree, barrier, Clients, eventsOf, MemoryStore, next, reaches, twoMembers, until } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

let nodes: MemoryNode;
beforeAll(async () => {
  nodes = await startMemoryNode();
});
afterAll(() => nodes[Symbol.asyncDispose]());
const startSwitch = () => TcpSwitch.to(nodes.servers[0]?.port ?? 0);

test('requests wait for the connection and are sent in order', async () => {
  await using tcp = await startSwitch();
  await using clients = new Clients();
  const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
  tcp.block();
  await reaches(ben, 'reconnecting');
  const heard: unknown[] = [];
  room.on('message', ({ data }) => heard.push(data));
  room.on('signal', ({ data }) => heard.push(data));
  const all = [
    bens.message(1),
    bens.setProfile({ name: 'Benjamin' }),
    bens.signal(room.self.userId, 2),
    bens.message(3),
  ];
  // A request made at the moment of the connection comes after those that have waited.
  const last = new Promise<void>((resolve) => {
    ben.on('state', (state) => state === 'online' && resolve(bens.message(4)));
  });
  await next(ben, 'retry');
  tcp.clear();
  await Promise.all([...all, last]);
  await barrier(room);
  expect(heard.slice(0, 4)).toEqual([1, 2, 3, 4]);
  expect(room.members[1]?.name).toBe('Benjamin');
});

test('requests wait for the first connection, too', async () => {
  await using tcp = await startSwitch();
  tcp.block();
  await using clients = new Clients();
  const client = clients.connect(tcp.url);
  const made = [client.create({ name: 'one' }), client.create({ name: 'two' })];
  await next(client, 'retry');
  tcp.clear();
  const [one, two] = await Promise.all(made);
  expect([one?.ending, two?.ending, client.room]).toEqual([{ reason: 'left' }, null, two]);
});

test('ready() waits as long as a request; the client keeps trying, and ready() may be called again', async () => {
  await using tcp = await startSwitch();
  tcp.block();
  await using clients = new Clients();
  const client = clients.connect(tcp.url, { timeoutMs: 300 });
  await expect(client.ready()).rejects.toMatchObject({ code: 'UNREACHABLE', retryable: true });
  expect([client.state, client.ending]).toEqual(['connecting', null]);
  tcp.clear();
  await reaches(client, 'online');
  expect(await client.ready()).toBeNull();
});

/** Cuts the connection when the server answers, before the answer arrives. */
function loseAnswers(tcp: TcpSwitch, count: number): void {
  let lost = 0;
  tcp.onDown((text) => {
    // A Socket.IO acknowledgement: `43`, its number, the answer.
    if (lost >= count || !/43\d+\[\{"ok":true/.test(text)) return;
    lost += 1;
    tcp.cut();
  });
}

describe('when the answer is lost', () => {
  test('a create makes one room', async () => {
    await using tcp = await startSwitch();
    await using clients = new Clients();
    await using lookout = await connectClient(nodes.url(0));
    const before = (await nodes.servers[0]?.pool())?.occupied ?? 0;
    const client = clients.connect(tcp.url);
    await client.ready();
    loseAnswers(tcp, 2);
    const room = await client.create({ name: 'Once' });
    expect(tcp.welcomes).toBe(3);
    expect((await nodes.servers[0]?.pool())?.occupied).toBe(before + 1);
    expect(room.snapshot).toMatchObject({ name: 'Once', hostId: client.userId });
    const { room: seen } = await lookout.must('room:join', { code: room.code });
    expect(seen.members).toHaveLength(2);
    await until(room, ({ members }) => members.length === 2);
  });

  test('a join takes one seat', async () => {
    await using tcp = await startSwitch();
    await using clients = new Clients();
    const ann = clients.connect(nodes.url(0));
    const room = await ann.create();
    const seen = eventsOf(room);
    const ben = clients.connect(tcp.url, { name: 'Ben' });
    await ben.ready();
    loseAnswers(tcp, 1);
    const bens = await ben.join(room.code);
    await until(room, ({ members }) => members.length === 2 && members[1]?.state === 'present');
    await agree(room, bens);
    expect(bens.self.userId).toBe(ben.userId);
    // The first join may have been announced before it was undone for lack of a connection: never two seats at once.
    expect(room.members).toHaveLength(2);
    expect(seen.filter((words) => words === 'member:joined Ben').length).toBeLessThanOrEqual(2);
    expect(ben.room).toBe(bens);
  });

  test('a message and a signal are not sent twice, and fail with TIMEOUT', async () => {
    await using tcp = await startSwitch();
    await using clients = new Clients();
    const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
    const heard: unknown[] = [];
    room.on('message', ({ data }) => heard.push(data));
    room.on('signal', ({ data }) => heard.push(data));
    for (const [data, send] of [
      ['message', () => bens.message('message')],
      ['signal', () => bens.signal(room.self.userId, 'signal')],
    ] as const) {
      loseAnswers(tcp, 1);
      await expect(send()).rejects.toMatchObject({ code: 'TIMEOUT', retryable: true });
      await reaches(ben, 'online');
      await barrier(room, bens);
      expect(heard.filter((it) => it === data)).toHaveLength(1);
    }
  });

  test('an update of the room or of a profile is sent again', async () => {
    await using tcp = await startSwitch();
    await using clients = new Clients();
    const { ann, room, bens } = await twoMembers(clients, [tcp.url, nodes.url(0)]);
    loseAnswers(tcp, 1);
    await room.update({ name: 'Tea' });
    loseAnswers(tcp, 1);
    await room.setProfile({ name: 'Anna' });
    await reaches(ann, 'online');
    await agree(room, bens);
    expect([bens.snapshot.name, bens.members[0]?.name]).toEqual(['Tea', 'Anna']);
  });
});

describe('leaving without a connection', () => {
  /** Ben leaves while he is away; his page is not reloaded. */
  async function leaveAway(clients: Clients, tcp: TcpSwitch, store: MemoryStore) {
    const pair = await twoMembers(clients, [nodes.url(0), tcp.url], { ben: { store } });
    tcp.block();
    await until(pair.room, ({ members }) => members[1]?.state === 'away');
    const leaving = pair.bens.leave();
    return { ...pair, leaving };
  }
  const isOver = (client: Client) => expect(client.room).toBeNull();

  test('the room ends at once, and the seat is freed as soon as the server is reached', async () => {
    await using tcp = await startSwitch();
    await using clients = new Clients();
    const store = new MemoryStore();
    const { ben, room, bens, leaving } = await leaveAway(clients, tcp, store);
    expect(bens.ending).toEqual({ reason: 'left' });
    isOver(ben);
    const left = next(room, 'member:left');
    tcp.clear();
    await leaving;
    expect(await left).toMatchObject({ reason: 'left', member: { userId: ben.userId } });
    isOver(ben);
    expect(ben.state).toBe('online');
  });

  test('the seat is freed even if the server was not reached in time', async () => {
    await using tcp = await startSwitch();
    await using clients = new Clients();
    const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url], { ben: { timeoutMs: 1500 } });
    tcp.block();
    await reaches(ben, 'reconnecting');
    await expect(bens.leave()).rejects.toMatchObject({ code: 'UNREACHABLE', retryable: true });
    isOver(ben);
    const left = next(room, 'member:left');
    tcp.clear();
    expect((await left).reason).toBe('left');
    await reaches(ben, 'online');
    isOver(ben);
  });

  test('a page that is reloaded meanwhile does not get the seat back', async () => {
    await using tcp = await startSwitch();
    await using clients = new Clients();
    const store = new MemoryStore();
    const { leaving } = await leaveAway(clients, tcp, store);
    expect(store.text).toBeNull();
    const reloaded = clients.connect(nodes.url(0), { store: new MemoryStore(store.text) });
    expect(await reloaded.ready()).toBeNull();
    tcp.clear();
    await leaving;
  });

  test('another room that is joined at once is the one that counts', async () => {
    await using tcp = await startSwitch();
    await using clients = new Clients();
    const { ben, room, leaving } = await leaveAway(clients, tcp, new MemoryStore());
    const cat = clients.connect(nodes.url(0));
    const other = await cat.create();
    const joining = ben.join(other.code);
    tcp.clear();
    await leaving;
    expect(ben.room).toBe(await joining);
    await until(other, ({ members }) => members.length === 2);
    await until(room, ({ members }) => members.length === 1);
    await agree(other, await joining);
  });
});
