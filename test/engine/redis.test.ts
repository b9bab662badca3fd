import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { NodeMessage } from '../../src/engine/engine.ts';
import { createRedisEngine } from '../../src/engine/redis/index.ts';
import { createKeys } from '../../src/engine/redis/keys.ts';
import type { NodeId, SessionNumber, UserId } from '../../src/protocol/ids.ts';
import { systemClock } from '../../src/support/clock.ts';
import { StoreUnavailable } from '../../src/support/store.ts';
import { POLICY, refOf, SHARD } from '../room/fixtures.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startClusterOfOne } from '../support/redis-cluster.ts';
import { testContract } from './contract.ts';
import { createHandClock, EngineHarness, nthCode, settingsOf } from './harness.ts';
import { startNodes } from './nodes.ts';
import { type RedisHarness, startRedisHarness } from './redis-harness.ts';

describe.each([
  ['redis', () => startRedis()],
  ['redis in cluster mode', startClusterOfOne],
])('%s', (name, start) => {
  let redis: RedisServer;
  let harness: RedisHarness;

  beforeAll(async () => {
    redis = await start();
    harness = await startRedisHarness(redis.url);
  });
  afterAll(async () => {
    await harness[Symbol.asyncDispose]();
    await redis.stop();
  });

  testContract(name, (settings, clock) => harness.make(settings, clock));
});

test('without a clock the engine uses the time of Redis', async () => {
  await using nodes = await startNodes({ count: 0 });
  const engine = await createRedisEngine({ url: nodes.redis.url })(settingsOf());
  const harness = new EngineHarness(engine, createHandClock(0));
  const before = systemClock.now();
  const { createdAt } = await harness.room(['anna']);
  // Redis runs on this machine: the two clocks differ by rounding only.
  expect(createdAt).toBeGreaterThanOrEqual(before - 1);
  expect(createdAt).toBeLessThanOrEqual(systemClock.now() + 1);
  await engine.close();
});

test('only user records and idempotency keys expire in Redis', async () => {
  await using nodes = await startNodes({ count: 1 });
  const [harness, keys] = [nodes.next(), createKeys('sb:')];
  const room = await harness.room(['anna', 'bert'], { idempotencyKey: 'one' });
  const { session } = await harness.arrive('anna');
  await harness.touch('anna', session, room);
  const ttl = async (key: string) => nodes.admin.pTTL(key);
  const user = keys.user('anna' as UserId);
  expect(await ttl(user)).toBeGreaterThan(POLICY.leaseMs - 10_000);
  expect(await ttl(user)).toBeLessThanOrEqual(POLICY.leaseMs);
  const shard = keys.shard(7);
  expect(await ttl(shard.idempotency('one'))).toBeGreaterThan(POLICY.idempotencyMs);
  for (const key of [shard.taken, shard.due, shard.leases, shard.room(room.code), shard.members(room.code)]) {
    expect(await ttl(key), key).toBe(-1);
  }
  expect({ ...(await nodes.admin.hGetAll(user)) }).toEqual({
    session: String(session),
    serverId: 'node-a',
    status: 'online',
    currentRoom: room.code,
    ref: room.ref,
    lastActive: String(nodes.clock.now()),
    connectedAt: String(nodes.clock.now()),
    untilAt: String(nodes.clock.now() + POLICY.leaseMs),
  });
});

test('servers with different prefixes are separate on one Redis', async () => {
  await using nodes = await startNodes({ count: 1 });
  const other = await createRedisEngine({ url: nodes.redis.url, prefix: 's[b]*:' })({
    ...settingsOf(),
    nodeId: 'other' as NodeId,
  });
  const [harness, elsewhere] = [nodes.next(), new EngineHarness(other, nodes.clock)];
  await harness.room(['anna']);
  expect(await elsewhere.stats()).toMatchObject({ occupied: 0 });
  expect(await other.nodes()).toEqual(['other']);
  expect(await harness.engine.nodes()).toEqual(['node-0']);
  expect(await other.sharedSecret('theirs')).toBe('theirs');
  expect(await harness.engine.sharedSecret('ours')).toBe('ours');
  await other.close();
});

test('all nodes see each other and share the first proposed secret', async () => {
  await using nodes = await startNodes();
  const [first, second, third] = nodes.engines;
  expect((await first?.nodes())?.toSorted()).toEqual(['node-0', 'node-1', 'node-2']);
  const secrets = await Promise.all(nodes.engines.map((engine, index) => engine.sharedSecret(`proposal-${index}`)));
  expect(new Set(secrets).size).toBe(1);
  expect(await third?.sharedSecret('late')).toBe(secrets[0]);
  await second?.close();
  await vi.waitFor(async () => expect(await first?.nodes()).toHaveLength(2));
});

test('a node receives the messages that are sent to it, and drops invalid ones', async () => {
  await using nodes = await startNodes({ count: 2 });
  const [first, second] = nodes.engines;
  const received: NodeMessage[] = [];
  second?.fanout.onMessage((message) => received.push(message));
  const messages: NodeMessage[] = [
    { kind: 'replaced', userId: 'anna' as UserId, session: 5 as SessionNumber },
    {
      kind: 'evicted',
      evicted: [
        {
          code: (await nodes.next().room(['anna'])).code,
          ref: refOf(1),
          userId: 'anna' as UserId,
          session: 5 as SessionNumber,
          nodeId: 'node-1' as NodeId,
          reason: 'kicked',
          banned: true,
        },
      ],
    },
  ];
  for (const bad of ['{', 'null', '{"kind":"stop"}', '{"kind":"replaced","userId":"a b","session":5}']) {
    await nodes.admin.sPublish('sb:node:node-1', bad);
    await nodes.admin.sPublish('sb:node:node-1', `-\n${bad}`);
  }
  for (const message of messages) first?.fanout.send('node-1' as NodeId, message);
  first?.fanout.send('nobody' as NodeId, { kind: 'replaced', userId: 'anna' as UserId, session: 5 as SessionNumber });
  await vi.waitFor(() => expect(received).toHaveLength(2));
  expect(received).toEqual(messages);
});

test('an event for a room reaches the nodes with a live subscription', async () => {
  await using nodes = await startNodes({ count: 2, deadlineMs: 300 });
  const servers = nodes.engines.map(({ fanout }) => {
    const io = new Server(createServer());
    // The type is opaque: only the gateway knows that it is an adapter.
    io.adapter(fanout.adapter as Parameters<typeof io.adapter>[0]);
    return io;
  });
  const [, there] = servers.map((io) => io.of('/'));
  const [first, second] = nodes.engines.map(({ fanout }) => fanout);
  const room = `{${refOf(1)}}`;
  const arrived: string[] = [];
  const receive = (to: string, event: string): number => arrived.push(`${to} ${event}`);
  second?.onEvent({ deliver: receive, broadcast: receive });
  await expect(second?.live(room)).rejects.toBeInstanceOf(StoreUnavailable);
  expect(await first?.deliver(room, 'to nobody')).toBeUndefined();
  await there?.adapter.addAll('a-socket', new Set([room]));
  await second?.live(room);
  expect(await first?.deliver(room, 'hello')).toBe(1);
  await first?.broadcast(room, 'to all');
  await vi.waitFor(() => expect(arrived).toEqual([`${room} hello`, `${room} to all`]));
  for (const io of servers) await io.close();
});

test('unknown events in the feed are skipped, however many there are', async () => {
  await using nodes = await startNodes({ count: 1 });
  const [harness] = nodes.harnesses;
  const room = (await harness?.room(['anna'])) ?? expect.unreachable();
  const { feed } = harness?.engine ?? expect.unreachable();
  const before = await feed.read({ limit: 10 });
  for (const event of ['{"type":"room_painted"}', 'no JSON', '']) {
    await nodes.admin.xAdd('sb:events', '*', { event });
  }
  await nodes.admin.xAdd('sb:events', '*', { other: 'field' });
  await harness?.leave(room, 'anna');
  const first = await feed.read({ after: before.position, limit: 4 });
  expect(first).toMatchObject({ events: [], lost: 0 });
  expect(first.position).not.toBe(before.position);
  const { events } = await feed.read({ after: first.position, limit: 4 });
  expect(events.map(({ type }) => type)).toEqual(['user_left', 'host_changed']);
});

test('a code without a room hash is not listed', async () => {
  await using nodes = await startNodes({ count: 1 });
  const [harness] = nodes.harnesses;
  const room = (await harness?.room(['anna'])) ?? expect.unreachable();
  await nodes.admin.del(createKeys('sb:').shard(SHARD).room(room.code));
  expect(await harness?.list()).toEqual({ ok: true, rooms: [], more: false });
});

test('a feed that has lost its last events goes on behind those that were read, and repeats none', async () => {
  await using nodes = await startNodes({ count: 1 });
  const harness = nodes.next();
  const feed = nodes.engines[0]?.feed ?? expect.unreachable();
  await harness.room(['anna'], { candidates: [nthCode(1)], ref: refOf(1) });
  await nodes.admin.sendCommand(['SAVE']);
  await harness.room(['bert'], { candidates: [nthCode(2)], ref: refOf(2) });
  const before = await feed.read({ limit: 100 });
  expect(before.events).toHaveLength(4);
  await nodes.redis.restart();
  const after = await vi.waitFor(() => feed.read({ after: before.position, limit: 100 }), { timeout: 30_000 });
  expect(after.events).toEqual([]);
  // One of the two, so that the stream is still shorter than it was.
  await vi.waitFor(() => harness.tick(), { timeout: 30_000 });
  await harness.createWithoutHost({ candidates: [nthCode(2)], ref: refOf(3) });
  const later = await feed.read({ after: before.position, limit: 100 });
  expect(later.events.map(({ ref }) => ref)).toEqual([refOf(3)]);
  expect((await feed.read({ after: later.position, limit: 100 })).events).toEqual([]);
});
