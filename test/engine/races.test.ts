/** Races of many nodes on one real Redis, which is audited after each. */
import { expect, test } from 'vitest';
import { auditShards } from '../../src/engine/redis/audit.ts';
import { codeAt, SHARDS } from '../../src/room/pool.ts';
import { POLICY, refOf, SHARD, seatKey } from '../room/fixtures.ts';
import { nthCode, poolOf, settingsOf } from './harness.ts';
import { type NodesOptions, startNodes } from './nodes.ts';

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A long deadline: a slow machine must not turn a race into an outage. */
const startRacers = (options: NodesOptions = {}) => startNodes({ ...options, deadlineMs: 60_000 });

/** Limits how many commands are under way at once. */
async function inWaves<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < count) {
    const begin = results.length;
    results.push(...(await Promise.all(times(Math.min(500, count - begin), (step) => make(begin + step)))));
  }
  return results;
}

test('a hundred joins at once into a room of five admit exactly five', async () => {
  await using nodes = await startRacers();
  const room = await nodes.next().room(['anna'], { settings: { maxUsers: 5 } });
  await nodes.next().leave(room, 'anna');
  const outcomes = await Promise.all(times(100, (index) => nodes.next().join(room, `user-${index}`)));
  const admitted = outcomes.filter((outcome) => outcome.ok);
  expect(admitted).toHaveLength(5);
  expect(new Set(outcomes.map((outcome) => (outcome.ok ? 'in' : outcome.reason)))).toEqual(
    new Set(['in', 'ROOM_FULL']),
  );
  // Revisions are consecutive: one for each join, and one for the first member, which becomes host.
  const revs = admitted.flatMap(({ events }) => events.map(({ body }) => body.rev));
  expect(revs.toSorted((a, b) => a - b)).toEqual([4, 5, 6, 7, 8, 9]);
  expect(await nodes.audit()).toMatchObject({ occupied: 1, seats: 5 });
});

test('a thousand creates at once on a pool of three hundred give three hundred codes, then only FULL', async () => {
  const settings = settingsOf(3);
  await using nodes = await startRacers({ settings });
  const outcomes = await Promise.all(
    times(1_000, (index) => nodes.next().create(`user-${index}`, { shard: index % SHARDS, ref: refOf(index) })),
  );
  const codes = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.room.code] : []));
  expect(new Set(codes).size).toBe(300);
  expect(codes).toHaveLength(300);
  for (const outcome of outcomes) {
    if (!outcome.ok) expect(outcome).toEqual({ ok: false, reason: 'FULL', nextFreeInMs: null });
  }
  expect(await nodes.audit()).toEqual({ free: 0, occupied: 300, cooling: 0, seats: 300 });
  const one = outcomes.findIndex((outcome) => outcome.ok && outcome.room.code === nthCode(1));
  await nodes.next().close({ code: nthCode(1), ref: refOf(one) }, `user-${one}`);
  nodes.clock.advance(1_000);
  expect(await nodes.next().create('late')).toEqual({
    ok: false,
    reason: 'FULL',
    nextFreeInMs: POLICY.cooldownMs - 1_000,
  });
  expect(await nodes.audit()).toEqual({ free: 0, occupied: 299, cooling: 1, seats: 299 });
});

test('the last free code is found, once, at a cost that does not grow with the fill', async () => {
  const settings = settingsOf(9_000);
  await using nodes = await startRacers({ settings });
  // Every code but one is taken: the most expensive search.
  const rooms = times(8_999, (index) => (index < 4_321 ? index : index + 1));
  await inWaves(rooms.length, (place) => {
    const index = rooms[place] ?? expect.unreachable();
    return nodes.next().create('anna', { candidates: [nthCode(index)], ref: refOf(index) });
  });
  await nodes.admin.sendCommand(['CONFIG', 'RESETSTAT']);
  const outcomes = await Promise.all(
    times(50, (index) => nodes.next().create(`user-${index}`, { searchFrom: 180 * index, ref: refOf(10_000 + index) })),
  );
  expect(outcomes.flatMap((outcome) => (outcome.ok ? [outcome.room.code] : []))).toEqual([nthCode(4_321)]);
  const stats = await nodes.admin.info('commandstats');
  const searches = Number(/cmdstat_bitpos:calls=(\d+)/.exec(stats)?.[1]);
  expect(searches).toBeGreaterThanOrEqual(50);
  expect(searches).toBeLessThanOrEqual(100);
  expect(await nodes.audit()).toMatchObject({ free: 99 * 9_000, occupied: 9_000 });
});

test('every code of ten shards is allocated exactly once, and the next create is refused with FULL', async () => {
  const pool = poolOf(9_000);
  await using nodes = await startRacers({ settings: { ...settingsOf(), pool } });
  const shards = times(10, (index) => index * 11);
  const given = new Set<string>();
  for (const shard of shards) {
    const outcomes = await inWaves(9_000, (index) => {
      // Like a node: a few random candidates, and a random start for the search.
      const candidates = times(4, () => codeAt(pool, shard, Math.floor(Math.random() * 9_000)));
      const searchFrom = Math.floor(Math.random() * 9_000);
      return nodes.next().create('anna', { shard, candidates, searchFrom, ref: refOf(shard * 10_000 + index) });
    });
    for (const outcome of outcomes) if (outcome.ok) given.add(outcome.room.code);
  }
  expect(given.size).toBe(90_000);
  for (const shard of shards) {
    expect(await nodes.next().create('late', { shard, ref: refOf(99_999_999) })).toMatchObject({ reason: 'FULL' });
  }
  expect(await nodes.audit()).toMatchObject({ free: 810_000, occupied: 90_000, cooling: 0 });
}, 300_000);

test('one create that is sent ten times with one key makes one room', async () => {
  await using nodes = await startRacers();
  const outcomes = await Promise.all(
    times(10, (index) => nodes.next().create('anna', { idempotencyKey: 'once', ref: refOf(index + 1) })),
  );
  const made = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.room] : []));
  expect(made).toHaveLength(1);
  for (const outcome of outcomes) {
    if (!outcome.ok) expect(outcome).toMatchObject({ reason: 'REPLAYED', code: made[0]?.code, ref: made[0]?.ref });
  }
  expect(await nodes.audit()).toMatchObject({ occupied: 1 });
});

test('concurrent ticks: each reaped seat and each ended room is reported to exactly one node', async () => {
  await using nodes = await startRacers();
  const first = await nodes.next().room(['anna', 'bert', 'cora']);
  await nodes.next().room(['dora', 'eve']);
  nodes.clock.advance(POLICY.leaseMs);
  const held = [seatKey(first, 'bert')];
  const tickAll = async () =>
    (await Promise.all(times(9, () => nodes.next().tick(held, 2)))).flatMap(({ events }) => events);
  const left = (await tickAll()).flatMap(({ name, body }) => (name === 'member:left' ? [body.userId] : []));
  expect(left.toSorted()).toEqual(['anna', 'cora', 'dora', 'eve']);
  nodes.clock.advance(POLICY.emptyMs);
  const closed = (await tickAll()).filter(({ name }) => name === 'room:closed');
  expect(closed).toHaveLength(1);
  expect(await nodes.audit()).toEqual({ free: 298, occupied: 1, cooling: 1, seats: 1 });
});

test('the sum of free, occupied and cooling codes is constant while three nodes work concurrently', async () => {
  await using nodes = await startRacers({ settings: settingsOf(3, { cooldownMs: 2_000 }) });
  const guests = ['anna', 'bert', 'cora', 'dora'];
  for (let round = 0; round < 30; round += 1) {
    const made = await Promise.all(
      times(6, (index) =>
        nodes.next().create(guests[index % 4] ?? '', { searchFrom: index % 3, ref: refOf(round * 10 + index) }),
      ),
    );
    const rooms = made.flatMap((outcome) => (outcome.ok ? [outcome.room] : []));
    await Promise.all(
      rooms.flatMap((room) => [
        ...guests.map((guest) => nodes.next().join(room, guest)),
        ...guests.map((guest) => nodes.next().suspend(room, guest)),
        nodes.next().kick(room, room.hostId ?? '', 'bert', { ban: true }),
        ...guests.map((guest) => nodes.next().leave(room, guest)),
        nodes.next().close(room, room.hostId ?? ''),
        nodes.next().tick([], 1),
      ]),
    );
    nodes.clock.advance(1_000);
    await nodes.audit();
  }
  const { occupied, cooling } = await nodes.audit();
  expect(await nodes.next().stats(SHARD)).toMatchObject({ occupied, cooling });
});

test('the audit finds every kind of inconsistent data', async () => {
  const pool = poolOf(3);
  await using nodes = await startRacers();
  const disagreements = async () => {
    const audits = await auditShards({ url: nodes.redis.url, pool });
    return audits.flatMap((shard) => shard.disagreements);
  };
  const room = await nodes.next().room(['anna', 'bert'], { candidates: [nthCode(1)] });
  const stem = `sb:{s07}:`;
  const { admin } = nodes;
  const broken: readonly (readonly [
    break_: () => Promise<unknown>,
    repair: () => Promise<unknown>,
    message: RegExp,
  ])[] = [
    [
      () => admin.setBit(`${stem}taken`, 1, 0),
      () => admin.setBit(`${stem}taken`, 1, 1),
      /100107 is occupied and marked free/,
    ],
    [
      () => admin.setBit(`${stem}taken`, 2, 1),
      () => admin.setBit(`${stem}taken`, 2, 0),
      /2 codes are marked, 1 occupied/,
    ],
    [
      () => admin.zAdd(`${stem}cooling`, { value: nthCode(1), score: 5 }),
      () => admin.zRem(`${stem}cooling`, nthCode(1)),
      /100107 is occupied and cooling/,
    ],
    [
      () => admin.zIncrBy(`${stem}leases`, 1, `${nthCode(1)} bert`),
      () => admin.zIncrBy(`${stem}leases`, -1, `${nthCode(1)} bert`),
      /seat 100107 bert and its lease disagree/,
    ],
    [
      () => admin.zAdd(`${stem}leases`, { value: `${nthCode(2)} bert`, score: 5 }),
      () => admin.zRem(`${stem}leases`, `${nthCode(2)} bert`),
      /3 leases, 2 seats/,
    ],
    [
      () => admin.hSet(`${stem}room:${nthCode(2)}`, 'ref', refOf(5)),
      () => admin.del(`${stem}room:${nthCode(2)}`),
      /100207 has a room and is not occupied/,
    ],
    [
      () => admin.hSet(`${stem}room:${nthCode(1)}`, 'hostId', 'cora'),
      () => admin.hSet(`${stem}room:${nthCode(1)}`, 'hostId', 'anna'),
      /100107 has members and no host/,
    ],
  ];
  for (const [harm, repair, message] of broken) {
    await harm();
    expect((await disagreements()).join('\n')).toMatch(message);
    await repair();
    expect(await disagreements()).toEqual([]);
  }
  expect(await nodes.next().snapshot(room)).toEqual(room);
});
