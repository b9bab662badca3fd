/** Requests that must not reach the server, or not another room: the client refuses them itself. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../src/client/index.ts';
import { type MemoryNode, startMemoryNode } from '../support/memory-node.ts';
import { startProxy } from '../support/proxy.ts';
import { barrier, Clients, eventsOf, MemoryStore, next, reaches, twoMembers, until } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

let nodes: MemoryNode;
beforeAll(async () => {
  nodes = await startMemoryNode();
});
afterAll(() => nodes[Symbol.asyncDispose]());

test('a path after the host of the url is ignored', async () => {
  await using clients = new Clients();
  for (const rest of ['/', '/some/page', '/?code=123456', '/#123456']) {
    const room = await clients.connect(`${nodes.url(0)}${rest}`).create();
    expect(room.members).toHaveLength(1);
  }
});

test('a payload larger than a frame is refused here: sent, it would end every connection', async () => {
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
  const huge = 'x'.repeat(200 * 1024);
  for (const ask of [
    () => bens.message(huge),
    () => bens.signal(room.self.userId, { huge }),
    () => bens.setProfile({ metadata: huge }),
    () => bens.update({ metadata: huge }),
    () => ben.create({ metadata: huge }),
    () => ben.join(room.code, { profile: { metadata: huge } }),
  ]) {
    await expect(ask()).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE', retryable: false });
  }
  await barrier(bens, room);
  expect([ben.state, ben.room, tcp.accepted]).toEqual(['online', bens, 1]);
});

test('a value that is no JSON is refused with a SignalboxError', async () => {
  await using clients = new Clients();
  const room = await clients.connect(nodes.url(0)).create();
  const circle: { self?: unknown } = {};
  circle.self = circle;
  for (const data of [circle, 1n, { deep: [2n] }]) {
    // A program without types may pass them.
    await expect(room.message(data as Json)).rejects.toMatchObject({ code: 'BAD_REQUEST', retryable: false });
  }
  await room.message('fine');
});

test('a request to a room that was left meanwhile does not reach the next room', async () => {
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const { ben, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
  const cat = clients.connect(nodes.url(0));
  const other = await cat.create();
  const told = eventsOf(other);
  tcp.block();
  await reaches(ben, 'reconnecting');
  const late = [bens.message('of the first'), bens.setProfile({ name: 'Of the first' })];
  const refused = late.map((promise) => expect(promise).rejects.toMatchObject({ code: 'CLOSED', retryable: false }));
  const leaving = bens.leave();
  const joining = ben.join(other.code);
  tcp.clear();
  await Promise.all([...refused, leaving]);
  const seat = await joining;
  await barrier(other, seat);
  expect(told.filter((words) => words.includes('irst'))).toEqual([]);
  expect(other.members[1]?.name).toBe('Ben');
});

test('a request to a room during a join of another one reaches its room, or none', async () => {
  await using clients = new Clients();
  const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(0)]);
  const cat = clients.connect(nodes.url(0));
  const other = await cat.create();
  const [here, there] = [eventsOf(room), eventsOf(other)];
  const joining = ben.join(other.code);
  const late = bens.message('of the first').catch((error: unknown) => error);
  const seat = await joining;
  expect(await late).toMatchObject({ code: 'CLOSED' });
  await barrier(other, seat);
  expect([...here, ...there].filter((words) => words.includes('of the first'))).toEqual([]);

  // If the join is refused, the client is where it was, and its message is sent there.
  await other.update({ locked: true });
  const again = await ben.join(room.code);
  const heard = next(room, 'message');
  const refused = ben.join(other.code).catch((error: unknown) => error);
  await again.message('of the first');
  expect(await refused).toMatchObject({ code: 'ROOM_LOCKED' });
  expect((await heard).data).toBe('of the first');
});

test('a create that is refused here during a join does not block later requests', async () => {
  await using clients = new Clients();
  const { ben, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(0)]);
  const other = await clients.connect(nodes.url(0)).create();
  const joining = ben.join(other.code);
  const refused = ben.create({ metadata: 'x'.repeat(200_000) }).catch((error: unknown) => error);
  const late = bens.message('x').catch((error: unknown) => error);
  expect(await refused).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  expect((await joining).ref).toBe(other.ref);
  expect(await late).toMatchObject({ code: 'CLOSED' });
});

test('a reloaded page that joins another room at once sends nothing into its old one', async () => {
  await using clients = new Clients();
  const store = new MemoryStore();
  const { room } = await twoMembers(clients, [nodes.url(0), nodes.url(0)], { ben: { store } });
  const other = await clients.connect(nodes.url(0)).create();
  const reloaded = clients.connect(nodes.url(0), { store });
  const said: Promise<unknown>[] = [];
  reloaded.on('room', (seat) => said.push(seat.message(seat.ref).catch((error: unknown) => error)));
  const told = [eventsOf(room), eventsOf(other)];
  const seat = await reloaded.join(other.code);
  await barrier(other, seat);
  expect(await said[0]).toMatchObject({ code: 'CLOSED' });
  expect(told.map((words) => words.filter((it) => it.includes('ROM')))).toEqual([
    [],
    [`message ${JSON.stringify(other.ref)}`],
  ]);
});

test('a request that waits for a join of another room fails at its own timeout', async () => {
  await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const timeoutMs = 1500;
  const url = `http://127.0.0.1:${proxy.port}`;
  const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), url], { ben: { timeoutMs } });
  proxy.freeze();
  const asked = [ben.join(room.code === '123456' ? '123457' : '123456'), bens.message('x'), bens.setProfile({})];
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
  }, timeoutMs + 200);
  for (const result of await Promise.allSettled(asked)) expect(result).toMatchObject({ reason: { code: 'TIMEOUT' } });
  clearTimeout(timer);
  expect(isLate).toBe(false);
  proxy.thaw();
});

test('two calls of close() both wait until the server has freed the seat', async () => {
  await using clients = new Clients();
  const { ben, room } = await twoMembers(clients, [nodes.url(0), nodes.url(0)]);
  const left = next(room, 'member:left');
  void ben.close();
  await ben.close();
  const found = await nodes.servers[0]?.engine.apply({ kind: 'read', code: room.code });
  expect(found?.ok && found.room.members.length).toBe(1);
  await left;
  await until(room, ({ members }) => members.length === 1);
});
