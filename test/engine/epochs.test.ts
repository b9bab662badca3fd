/** Every way in which a Redis loses what was written: it is noticed, nothing is refused for good, and nodes restore. */
import { createClient } from 'redis';
import { describe, expect, test, vi } from 'vitest';
import type { NodeId } from '../../src/protocol/ids.ts';
import type { RoomSnapshot } from '../../src/protocol/snapshot.ts';
import { RECONNECTED_MS } from '../../src/room/epoch.ts';
import { StoreRecovering } from '../../src/support/store.ts';
import { eventsOf } from '../room/events-in-words.ts';
import { node, refOf, SECOND, SHARD, seatKey } from '../room/fixtures.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { restore } from './contract/restore.ts';
import { type EngineHarness, nthCode, settingsOf } from './harness.ts';
import { type Nodes, startNodes } from './nodes.ts';

const RECOVERY_MS = 5 * SECOND;
const settings = settingsOf(9, { recoveryMs: RECOVERY_MS });

/** Two nodes behind a proxy, in a store that has recovered from its first start. */
async function startUsed(login = ''): Promise<Nodes & { readonly proxy: TcpProxy }> {
  const proxy = await startProxy(0);
  const url = (redis: RedisServer): string => {
    proxy.turnTo(redis.port);
    return `redis://${login}127.0.0.1:${proxy.port}`;
  };
  const nodes = await startNodes({ count: 2, settings, deadlineMs: 60_000, url });
  await nodes.next().tick();
  nodes.clock.advance(RECOVERY_MS);
  for (const harness of nodes.harnesses) await harness.tick();
  const end = async (): Promise<void> => {
    await nodes[Symbol.asyncDispose]();
    await proxy.close();
  };
  return { ...nodes, proxy, [Symbol.asyncDispose]: end };
}

const waits = (outcome: Promise<unknown>) => expect(outcome).rejects.toBeInstanceOf(StoreRecovering);

/** A connection that is made anew fails some commands on the way. */
const retried = <T>(attempt: () => Promise<T>): Promise<T> =>
  vi.waitFor(attempt, { timeout: 30_000, interval: 50 }) as Promise<T>;

const usersOf = ({ members }: RoomSnapshot): string[] => members.map(({ userId }) => userId);

type Loss = (nodes: Nodes & { readonly proxy: TcpProxy }, replica: RedisServer) => Promise<() => Promise<void>>;

/** Each is called before the last writes, and gives what makes Redis lose them. */
const losses: readonly (readonly [string, Loss])[] = [
  [
    'is emptied',
    async ({ admin }) =>
      async () =>
        void (await admin.flushAll()),
  ],
  [
    'restarts with an older dump',
    async ({ admin, redis }) => {
      await admin.sendCommand(['SAVE']);
      return () => redis.restart();
    },
  ],
  [
    'is replaced by a replica that lags behind',
    async ({ redis, proxy }, replica) => {
      await copyTo(replica, redis);
      return async () => {
        proxy.turnTo(replica.port);
        proxy.cut();
        proxy.heal();
      };
    },
  ],
  [
    'becomes a replica and a primary again, with its connections',
    async ({ admin, redis }, replica) => {
      await copyTo(replica, redis);
      return () => copyTo(redis, replica, admin);
    },
  ],
];

/** A full copy, and then a primary of its own. */
async function copyTo(target: RedisServer, source: RedisServer, given?: Pick<Nodes['admin'], 'sendCommand' | 'info'>) {
  const client = createClient({ url: target.url });
  await client.connect();
  const admin = given ?? client;
  await admin.sendCommand(['REPLICAOF', '127.0.0.1', String(source.port)]);
  await vi.waitFor(async () => expect(await admin.info('replication')).toContain('master_link_status:up'), {
    timeout: 30_000,
    interval: 50,
  });
  await admin.sendCommand(['REPLICAOF', 'NO', 'ONE']);
  client.destroy();
}

test.each(losses)('when Redis %s, its nodes restore the rooms and no revision repeats', async (_, prepare) => {
  await using replica = await startRedis();
  await using nodes = await startUsed();
  const [one, two] = nodes.harnesses;
  if (one === undefined || two === undefined) return expect.unreachable();
  await one.room(['anna', 'bert'], { candidates: [nthCode(1)], ref: refOf(1) });
  const { epoch } = await one.tick();
  const happen = await prepare(nodes, replica);
  await one.join({ code: nthCode(1), ref: refOf(1) }, 'cora');
  await one.leave({ code: nthCode(1), ref: refOf(1) }, 'bert');
  const known = await one.snapshot({ code: nthCode(1), ref: refOf(1) });
  const later = await one.room(['dora'], { candidates: [nthCode(2)], ref: refOf(2) });
  if (typeof known === 'string') return expect.unreachable();
  nodes.clock.advance(SECOND);
  await happen();

  const held = [seatKey(known, 'anna'), seatKey(known, 'cora'), seatKey(later, 'dora')];
  const found = await retried(() => one.tick(held));
  expect(found).toMatchObject({ lost: [], infos: [], recoveringMs: RECOVERY_MS });
  expect(found.epoch).toBeGreaterThan(epoch);
  // What a client asks meanwhile is not answered by what the store happens to hold.
  await waits(two.create('emma', { candidates: [later.code] }));
  await waits(two.resolve(later.code));
  await waits(two.find(later, 'dora'));
  await waits(two.leave(later, 'dora'));
  await waits(two.read(known.code));

  expect(await restore(two, known, { of: ['cora'], sinceEpoch: epoch })).toMatchObject({ ok: true });
  expect(await restore(one, known, { of: ['anna'], sinceEpoch: epoch })).toMatchObject({
    ok: true,
    epoch: found.epoch,
  });
  expect(await restore(one, later, { of: ['dora'], sinceEpoch: epoch })).toMatchObject({ ok: true });
  expect((await retried(() => two.tick(held))).lost).toEqual([]);
  await nodes.audit();

  nodes.clock.advance(RECOVERY_MS);
  const recovered = await one.tick(held);
  expect(recovered).toMatchObject({ lost: [], recoveringMs: 0 });
  const truth = await one.snapshot(known);
  if (typeof truth === 'string') return expect.unreachable(truth);
  // Who left in the lost history is there again where the store remembers: nobody holds that seat, so it is given up.
  expect(usersOf(truth).filter((user) => user !== 'bert')).toEqual(['anna', 'cora']);
  expect(truth.rev).toBeGreaterThan(known.rev + 1_000_000);
  expect(await two.create('emma', { candidates: [later.code] })).toMatchObject({
    ok: true,
    room: { code: nthCode(0) },
  });
  nodes.clock.advance(settings.policy.graceMs);
  const reaped = eventsOf(await one.tick(held));
  expect(reaped.filter((line) => !line.includes('member:left bert lost'))).toEqual([]);
  expect(eventsOf(await two.tick(held))).toEqual([]);
  expect(usersOf((await one.snapshot(known)) as RoomSnapshot)).toEqual(['anna', 'cora']);
  await nodes.audit();
});

test('a Redis that does not tell its life is noticed when it is emptied', async () => {
  await using nodes = await startUsed();
  await nodes.admin.sendCommand(['ACL', 'SETUSER', 'default', '-info']);
  // The connections of the nodes are refused INFO from now on: to them it is another life, and then a hidden one.
  const hidden = await nodes.next().tick();
  expect(hidden.recoveringMs).toBe(RECOVERY_MS);
  nodes.clock.advance(RECOVERY_MS);
  const { epoch } = await nodes.next().tick();
  expect(await nodes.next().create('anna')).toMatchObject({ ok: true });
  await nodes.admin.flushAll();
  await waits(nodes.next().create('bert'));
  expect((await nodes.next().tick()).epoch).toBeGreaterThan(epoch);
});

test('a node that still believes in the former life serves as any other', async () => {
  await using nodes = await startUsed();
  const [one, two] = nodes.harnesses;
  if (one === undefined || two === undefined) return expect.unreachable();
  await nodes.admin.flushAll();
  const { epoch } = await one.tick();
  nodes.clock.advance(RECOVERY_MS);
  await one.tick();
  const room = await two.room(['anna']);
  expect(await one.join(room, 'bert')).toMatchObject({ ok: true });
  expect((await two.tick()).epoch).toBe(epoch);
});

test('a node that is alone and holds nothing ends the recovery', async () => {
  await using nodes = await startNodes({ count: 1, settings });
  const harness = nodes.next();
  const missing = [seatKey({ code: nthCode(1), ref: refOf(1) }, 'anna')];
  const alone = (held = missing) => harness.tick(held, 100, SHARD, { sole: true });
  await waits(harness.create('anna'));
  expect((await alone([])).recoveringMs).toBe(0);
  expect(await harness.create('anna')).toMatchObject({ ok: true });
  // Not while something that it holds is missing.
  await nodes.admin.flushAll();
  expect((await alone()).recoveringMs).toBe(RECOVERY_MS);
  expect((await alone([])).recoveringMs).toBe(0);
});

describe('nodes tell that they have restored what they hold', () => {
  const [A, B] = [node('node-a'), node('node-b')];
  /** A tick of a node that has nothing left to restore. */
  const tell = (harness: EngineHarness, by: NodeId, knownEpoch: number, connected: readonly NodeId[]) =>
    harness.tick([], 100, SHARD, { knownEpoch, restored: { by, connected } });

  test('the recovery ends when all have, but not before others can have connected again', async () => {
    await using nodes = await startNodes({ count: 2, settings });
    const [one, two] = nodes.harnesses;
    if (one === undefined || two === undefined) return expect.unreachable();
    const { epoch } = await one.tick();
    expect((await tell(one, A, epoch, [A, B])).recoveringMs).toBe(RECOVERY_MS);
    expect((await tell(one, A, epoch, [A, B])).recoveringMs).toBe(RECOVERY_MS);
    expect((await tell(two, B, epoch, [A, B])).recoveringMs).toBe(RECONNECTED_MS);
    await waits(two.create('anna'));
    nodes.clock.advance(RECONNECTED_MS);
    expect(await two.create('anna')).toMatchObject({ ok: true });
  });

  test('one that comes late is waited for after all, and what it has said of another epoch does not count', async () => {
    await using nodes = await startNodes({ count: 2, settings });
    const [one, two] = nodes.harnesses;
    if (one === undefined || two === undefined) return expect.unreachable();
    const { epoch } = await one.tick();
    await tell(one, A, epoch, [A]);
    expect((await tell(two, B, epoch - 1, [A, B])).recoveringMs).toBe(RECOVERY_MS);
    expect((await tell(two, B, epoch, [A, B])).recoveringMs).toBe(RECONNECTED_MS);
    await nodes.admin.flushAll();
    nodes.clock.advance(1);
    const again = await one.tick();
    expect((await tell(one, A, again.epoch, [A, B])).recoveringMs).toBe(RECOVERY_MS);
  });
});

test('a node that has not restored yet what it holds is refused nothing for good, and told to restore', async () => {
  await using nodes = await startUsed();
  const [one, two] = nodes.harnesses;
  if (one === undefined || two === undefined) return expect.unreachable();
  const room = await one.room(['anna'], { ref: refOf(1) });
  const { epoch } = await one.tick([], 100, SHARD);
  await one.tick([], 100, SHARD, { knownEpoch: epoch });
  const behind = vi.fn();
  one.engine.onBehind(behind);
  nodes.clock.advance(1);
  await nodes.admin.flushAll();
  await two.tick();
  nodes.clock.advance(RECOVERY_MS);
  await two.tick();

  for (const ask of [
    one.resume(room, 'anna', 2),
    one.leave(room, 'anna'),
    one.resolve(room.code),
    one.join(room, 'bert'),
  ])
    await waits(ask);
  expect(behind.mock.calls).toEqual([[SHARD], [SHARD], [SHARD], [SHARD]]);
  const held = [seatKey(room, 'anna')];
  expect(await one.tick(held, 100, SHARD, { knownEpoch: epoch })).toMatchObject({ lost: [], recoveringMs: 0 });
  expect(await two.resolve(room.code)).toMatchObject({ reason: 'ROOM_NOT_FOUND' });
  expect(await restore(one, room, { of: ['anna'], sinceEpoch: epoch })).toMatchObject({ ok: true });
  const later = await one.tick(held, 100, SHARD, { knownEpoch: (await two.tick()).epoch });
  expect(later.lost).toEqual([]);
  expect(await one.leave(room, 'bert')).toMatchObject({ reason: 'NOT_IN_ROOM' });
});
