import { expect, test, vi } from 'vitest';
import { redisChannel } from '../../src/engine/redis/bus.ts';
import type { TcpProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redis.ts';
import { DEADLINE_MS, PREFIX, reach, startNode, type TestNode, Unavailable } from './bus-node.ts';

const ROOM = 'room:{ROM202600000042}';
const MEMBER = `${ROOM}:anna`;

// The first tests mostly wait for a slow link, so they run concurrently.
test.concurrent('no message is lost right after live: 100 rooms, 100 messages', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis, { delayMs: 0 });
  await using far = await startNode(redis);
  const guest = await far.guest();
  for (let i = 0; i < 100; i += 1) {
    const room = `room:{ROM2026${i}}`;
    await far.join(guest, room);
    near.io.to(room).emit('note', i);
  }
  await vi.waitFor(() => expect(guest.notes).toHaveLength(100));
  expect(guest.notes).toEqual(Array.from({ length: 100 }, (_, i) => i));
});

test.concurrent.each([
  ['a room, which lingers', ROOM],
  ['a member, which does not', MEMBER],
])('leaving and joining again within a round trip keeps the subscription: %s', async (_, room) => {
  await using redis = await startRedis();
  await using near = await startNode(redis, { delayMs: 0 });
  await using far = await startNode(redis);
  const guest = await far.guest();
  await far.join(guest, room);
  for (let i = 0; i < 50; i += 1) {
    await guest.seat.leave(room);
    await far.join(guest, room);
    near.io.to(room).emit('note', i);
    await vi.waitFor(() => expect(guest.notes.at(-1)).toBe(i), { interval: 2 });
  }
  expect(guest.notes).toEqual(Array.from({ length: 50 }, (_, i) => i));
});

test.concurrent('joining and leaving without waiting ends in the last state requested', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis);
  const guest = await far.guest();
  for (let i = 0; i < 25; i += 1) {
    void guest.seat.join(MEMBER);
    await turn();
    void guest.seat.leave(MEMBER);
    await turn();
  }
  await vi.waitFor(async () => expect(await reach(near, MEMBER)).toBe(0));
  for (let i = 0; i < 25; i += 1) {
    void guest.seat.leave(MEMBER);
    await turn();
    void guest.seat.join(MEMBER);
    await turn();
  }
  await far.bus.live(redisChannel(PREFIX, MEMBER));
  expect(await reach(near, MEMBER)).toBe(1);
});

test('a channel lingers: joining again needs no command, and later it is unsubscribed', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis);
  const guest = await far.guest();
  await far.join(guest, ROOM);
  const commands = commandsSeen(far.proxy);
  await guest.seat.leave(ROOM);
  expect(await subscribers(near, ROOM), 'still subscribed').toBe(1);
  await far.join(guest, ROOM);
  near.io.to(ROOM).emit('note', 'back');
  await vi.waitFor(() => expect(guest.notes).toEqual(['back'])); // and not the messages from the time without members
  expect(commands().filter((name) => name.includes('subscribe'))).toEqual([]);
  await guest.seat.leave(ROOM);
  await vi.waitFor(async () => expect(await subscribers(near, ROOM)).toBe(0));
  expect(commands().filter((name) => name.includes('subscribe'))).toEqual(['sunsubscribe']);
});

test('a node without members of a room receives none of its messages', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis);
  await using idle = await startNode(redis);
  const guest = await far.guest();
  const bystander = await idle.guest();
  await far.join(guest, ROOM);
  await idle.join(bystander, 'room:{ROM202600000043}');
  const before = [far.proxy.bytesDown, idle.proxy.bytesDown];
  for (let i = 0; i < 100; i += 1) near.io.to(ROOM).emit('note', 'x'.repeat(1_000));
  near.io.to('room:{ROM202600000043}').emit('note', 'barrier');
  await vi.waitFor(() => expect(guest.notes).toHaveLength(100));
  await vi.waitFor(() => expect(bystander.notes).toEqual(['barrier']));
  const [farBytes, idleBytes] = [far.proxy.bytesDown, idle.proxy.bytesDown].map((now, i) => now - (before[i] ?? 0));
  expect(farBytes).toBeGreaterThan(100_000);
  expect(idleBytes).toBeLessThan(1_000);
});

test('Redis dead: messages are dropped and counted, local clients still receive them, and the bus recovers', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis);
  const [local, remote] = [await near.guest(), await far.guest()];
  await near.join(local, ROOM);
  await far.join(remote, ROOM);
  await redis.kill();
  await vi.waitFor(() => expect([near.bus.isUp('any'), far.bus.stats().live]).toEqual([false, 0]));
  const { dropped } = near.bus.stats();
  const began = performance.now();
  for (let i = 0; i < 10; i += 1) near.io.to(ROOM).emit('note', i);
  await vi.waitFor(() => expect(local.notes).toHaveLength(10), { interval: 2 });
  expect(performance.now() - began).toBeLessThan(200);
  expect(near.bus.stats().dropped).toBe(dropped + 10);
  await expect(reach(near, ROOM)).rejects.toBeInstanceOf(Unavailable);
  await expect(far.bus.live(redisChannel(PREFIX, ROOM))).rejects.toBeInstanceOf(Unavailable);
  await redis.restart();
  await far.bus.live(redisChannel(PREFIX, ROOM));
  await vi.waitFor(() => expect(near.bus.isUp('any')).toBe(true));
  near.io.to(ROOM).emit('note', 'again');
  await vi.waitFor(() => expect(remote.notes).toEqual(['again'])); // and none of the ten
  expect(far.bus.stats().losses).toBe(1);
});

test('a subscription under way when Redis dies is live after the restart', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis);
  const guest = await far.guest();
  const commands = commandsSeen(far.proxy);
  void guest.seat.join(ROOM);
  await vi.waitFor(() => expect(commands()).toContain('ssubscribe'), { interval: 1 });
  await redis.kill();
  await redis.restart();
  await vi.waitFor(async () => expect(await reach(near, ROOM)).toBe(1));
  await far.bus.live(redisChannel(PREFIX, ROOM));
});

test('Redis frozen: no call hangs, no backlog is delivered later, and the bus recovers', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis, { nodeId: 'far' });
  const [local, remote] = [await near.guest(), await far.guest()];
  await near.join(local, ROOM);
  await far.join(remote, ROOM);
  redis.freeze();
  for (let i = 0; i < 10; i += 1) near.io.to(ROOM).emit('note', 'stale');
  await expect(near.bus.countReceivers('far', 'unknown')).rejects.toBeInstanceOf(Unavailable);
  await vi.waitFor(() => expect(near.bus.isUp('any')).toBe(false)); // stalled, though the connection stays
  for (let i = 0; i < 10; i += 1) near.io.to(ROOM).emit('note', i);
  await vi.waitFor(() => expect(local.notes).toHaveLength(20));
  await expect(far.join(remote, 'room:{ROM1}')).rejects.toBeInstanceOf(Unavailable);
  redis.thaw();
  await vi.waitFor(() => expect(near.bus.isUp('any')).toBe(true));
  near.io.to(ROOM).emit('note', 'thawed');
  await vi.waitFor(() => expect(remote.notes).toEqual(['thawed']));
  await far.bus.live(redisChannel(PREFIX, 'room:{ROM1}'));
});

test('2,000 subscriptions survive a lost connection', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis, { deadlineMs: 60_000 });
  const guest = await far.guest();
  const rooms = Array.from({ length: 2_000 }, (_, i) => `room:{ROM2026${String(i).padStart(8, '0')}}`);
  await guest.seat.join(rooms);
  await Promise.all(rooms.map((room) => far.bus.live(redisChannel(PREFIX, room))));
  far.proxy.cut();
  await vi.waitFor(() => expect(far.bus.stats().live).toBe(0));
  far.proxy.heal();
  await vi.waitFor(() => expect(far.clients.sub.isReady).toBe(true));
  await Promise.all(rooms.map((room) => far.bus.live(redisChannel(PREFIX, room))));
  for (const room of rooms) near.io.to(room).emit('note', room);
  await vi.waitFor(() => expect(guest.notes).toHaveLength(2_000));
});

test('subscriptions of one tick are sent in one write', async () => {
  await using redis = await startRedis();
  await using far = await startNode(redis);
  const guest = await far.guest();
  await vi.waitFor(() => expect(far.bus.stats()).toMatchObject({ channels: 3, live: 3 })); // the adapter's own two, and the inbox
  const writes: number[] = [];
  far.proxy.onUp((chunk) => writes.push(chunk.toString().split('ssubscribe').length - 1));
  const rooms = Array.from({ length: 50 }, (_, i) => `room:{ROM${i}}`);
  void guest.seat.join(rooms);
  await Promise.all(rooms.map((room) => far.bus.live(redisChannel(PREFIX, room))));
  expect(writes.filter((count) => count > 0)).toEqual([50]);
});

test('a refused subscription is retried until Redis allows it, and logged once', async () => {
  await using redis = await startRedis();
  await using far = await startNode(redis);
  const guest = await far.guest();
  await far.clients.state.sendCommand(['ACL', 'SETUSER', 'default', 'resetchannels']);
  await expect(far.join(guest, ROOM)).rejects.toBeInstanceOf(Unavailable);
  expect(far.warnings.filter((text) => text.includes(ROOM))).toHaveLength(1);
  await far.clients.state.sendCommand(['ACL', 'SETUSER', 'default', 'allchannels']);
  await vi.waitFor(() => expect(far.bus.stats().live).toBe(far.bus.stats().channels));
  await far.bus.live(redisChannel(PREFIX, ROOM));
});

test('a silent link is closed and reconnected', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis, { pingMs: 100, silenceMs: 400 });
  const guest = await far.guest();
  await far.join(guest, ROOM);
  far.proxy.freeze();
  await vi.waitFor(() => expect(far.bus.stats()).toMatchObject({ live: 0, losses: 1 }));
  far.proxy.thaw();
  await vi.waitFor(async () => expect(await reach(near, ROOM)).toBe(1));
});

test('a listener that throws loses only that message', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis, { nodeId: 'far' });
  const received: string[] = [];
  far.bus.onMessage((text) => (text === 'bad' ? fail('listener') : received.push(text)));
  await far.bus.live(far.bus.inbox('far'));
  for (const text of ['one', 'bad', 'two']) near.bus.send('far', text);
  await vi.waitFor(() => expect(received).toEqual(['one', 'two']));
  expect(far.warnings).toHaveLength(1);
});

test('send and onMessage: messages arrive in order, receivers are counted, and a listener can be removed', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  await using far = await startNode(redis, { nodeId: 'far' });
  const received: string[] = [];
  const end = far.bus.onMessage((text) => received.push(text));
  await far.bus.live(far.bus.inbox('far'));
  for (let i = 0; i < 100; i += 1) near.bus.send('far', JSON.stringify({ i }));
  await vi.waitFor(() => expect(received).toHaveLength(100));
  expect(received.map((text) => JSON.parse(text).i)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect(await near.bus.countReceivers('far', '{}')).toBe(1);
  expect(await near.bus.countReceivers('gone', '{}')).toBe(0);
  const again: string[] = [];
  far.bus.onMessage((text) => again.push(text));
  end(); // removes the replaced listener, not the new one
  near.bus.send('far', 'new');
  await vi.waitFor(() => expect(again).toEqual(['new']));
});

test('a closed bus refuses waiting calls at once and publishes nothing', async () => {
  await using redis = await startRedis();
  await using near = await startNode(redis);
  redis.freeze();
  const waiting = near.bus.live(near.bus.inbox('other'));
  const began = performance.now();
  await Promise.all([near.bus.close(), expect(waiting).rejects.toBeInstanceOf(Unavailable)]);
  expect(performance.now() - began).toBeLessThan(DEADLINE_MS / 2);
  await expect(near.bus.live('any')).rejects.toBeInstanceOf(Unavailable);
  near.bus.send('any', 'text');
  expect(near.bus.stats().dropped).toBe(1);
  redis.thaw();
});

async function subscribers({ clients }: TestNode, room: string): Promise<number | undefined> {
  const channel = redisChannel(PREFIX, room);
  return (await clients.pub.pubSubShardNumSub([channel]))[channel];
}

/** Lets node-redis write the commands of this tick. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Records the names of the commands that are sent from now on, in order. */
function commandsSeen(proxy: TcpProxy): () => string[] {
  let text = '';
  proxy.onUp((chunk) => {
    text += chunk.toString();
  });
  return () => [...text.matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)].map((match) => (match[1] ?? '').toLowerCase());
}

function fail(what: string): never {
  throw new Error(what);
}
