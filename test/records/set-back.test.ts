/** A store that was set back, as Redis is by restoring a dump: rooms go on at an earlier revision. */
import fc from 'fast-check';
import { createClient } from 'redis';
import { expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import type { Feed } from '../../src/engine/feed.ts';
import { createRedisEngine } from '../../src/engine/redis/index.ts';
import type { FeedEvent, RoomFeedEvent } from '../../src/protocol/feed.ts';
import type { CallParticipant } from '../../src/records/port.ts';
import { findCall, listCalls } from '../../src/records/read.ts';
import { systemClock } from '../../src/support/clock.ts';
import { EngineHarness, settingsOf } from '../engine/harness.ts';
import { refOf } from '../room/fixtures.ts';
import { temporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { retry } from '../support/retry.ts';
import { type CreatedRoom, eventsByRef, type RoomCommand, roomCommand, runCommand } from './commands.ts';
import { recordAll, recorderOf, startRooms } from './harness.ts';

const commands = (max: number) => fc.array(roomCommand, { maxLength: max, size: 'max' });

test('records of a store that was set back go on with its new events, and are marked incomplete', async () => {
  await using folder = await temporaryFolder();
  let runs = 0;
  const cases = fc.record({
    kept: commands(30),
    forgotten: commands(20),
    afterwards: commands(30),
    // Ends of the recorder's pages; the last lost event may have been recorded or not.
    cuts: fc.array(fc.nat(60), { maxLength: 4 }),
    recordsAll: fc.boolean(),
  });
  const property = fc.asyncProperty(cases, async ({ kept, forgotten, afterwards, cuts, recordsAll }) => {
    runs += 1;
    const database = openDatabase(`sqlite:${folder.path}/${runs}.db`);
    try {
      const first = await eventsOf(kept, 0, forgotten);
      // Kept events are read again unchanged, and all others have later timestamps.
      const second = await eventsOf(kept, LATER_MS, afterwards);
      const ends = cuts.map((cut) => Math.min(cut, first.length)).sort((a, b) => a - b);
      const before = first.slice(0, recordsAll ? first.length : (ends.at(-1) ?? 0));
      await recordIn(database, 'first', before, ends);
      await recordIn(database, 'second', second, [...ends, second.length]);
      await compare(database, before, second);
    } finally {
      await database.close();
    }
  });
  await fc.assert(property, { numRuns: 100, interruptAfterTimeLimit: 30_000 });
});

/** Longer than the lost period, and too short for a room to end by itself. */
const LATER_MS = 250_000;
const WAIT_MS = 10_000;

/** Feed of a store: the commands `kept` run in both lives of the store, `then` only in this one. */
async function eventsOf(
  kept: readonly RoomCommand[],
  waitMs: number,
  then: readonly RoomCommand[],
): Promise<FeedEvent[]> {
  const rooms = startRooms();
  const made: CreatedRoom[] = [];
  const run = async (some: readonly RoomCommand[], refsFrom: number, maxMs: number) => {
    for (const each of some) {
      if (each.do === 'record') continue;
      const command = each.do === 'wait' ? { ...each, ms: Math.min(maxMs, each.ms) } : each;
      await runCommand(rooms, made, command, refOf(refsFrom + made.length));
    }
  };
  await run(kept, 1, LATER_MS);
  rooms.clock.advance(waitMs);
  // No ref is issued twice, whatever a store has lost.
  await run(then, 1 + waitMs, waitMs === 0 ? WAIT_MS : LATER_MS);
  return [...(await rooms.engine.feed.read({ limit: 100_000 })).events];
}

/** Records a feed in several steps, which end at these positions. */
async function recordIn(database: Database, life: string, events: readonly FeedEvent[], ends: readonly number[]) {
  for (const end of [...ends, events.length]) {
    const feed = { read: listed(life, events.slice(0, end)) } as Feed; // the recorder only reads
    await recordAll(recorderOf(database, { engine: { feed }, clock: { now: () => 0 } }));
  }
}

/** A position of another life of the store is invalid: then the feed is read from the beginning. */
const listed =
  (life: string, events: readonly FeedEvent[]): Feed['read'] =>
  async ({ after = '', limit }) => {
    const [of, index] = after.split(' ');
    const from = of === life ? Number(index) : 0;
    const some = events.slice(from, from + limit);
    return { events: some, position: `${life} ${from + some.length}`, lost: 0 };
  };

async function compare(database: Database, before: readonly FeedEvent[], second: readonly FeedEvent[]): Promise<void> {
  const { calls } = await listCalls(database, { limit: 1_000 });
  const [earlier, later] = [eventsByRef(before), eventsByRef(second)];
  expect(calls.map(({ ref }) => ref).sort()).toEqual([...new Set([...earlier.keys(), ...later.keys()])].sort());
  for (const call of calls) {
    const [one, two] = [earlier.get(call.ref) ?? [], later.get(call.ref) ?? []];
    const same = one.findIndex(
      (event, index) => event.timestamp !== two[index]?.timestamp || event.type !== two[index].type,
    );
    const common = same === -1 ? one.length : same;
    const { participants, ...rest } = call;
    // Without the sequence numbers, which this computation does not know.
    const unnumbered = participants.map((session) => withoutNumber(session));
    const expected = expectedAcrossLives([...one, ...two.slice(common)]);
    expect(rest).toMatchObject({ ...expected.call, complete: one.length === common || two.length === common });
    expect(unnumbered).toEqual(expected.sessions);
  }
}

const withoutNumber = ({ userId, name, joinedAt, leftAt, reason, mediaType }: CallParticipant): Open => ({
  userId,
  name,
  joinedAt,
  leftAt,
  reason,
  mediaType,
});

/** The expected record, computed from all events of both lives in their order. */
function expectedAcrossLives(events: readonly RoomFeedEvent[]) {
  const sessions: Open[] = [];
  const seats = new Map<string, Open>();
  const openOf = (userId: string) => sessions.find((each) => each.userId === userId && each.leftAt === null);
  const end = (session: Open | undefined, leftAt: number, reason: string) => {
    if (session !== undefined) Object.assign(session, { leftAt, reason });
  };
  let ended: { readonly endedAt: number | null; readonly reason: string | null } = { endedAt: null, reason: null };
  let peakMembers = 0;
  for (const event of events) {
    const { timestamp } = event;
    ended = { endedAt: null, reason: null };
    if (event.type === 'user_joined') end(openOf(event.userId), timestamp, 'unknown');
    if ('member' in event) applyMember(sessions, seats, openOf(event.userId), event);
    peakMembers = Math.max(peakMembers, sessions.filter(({ leftAt }) => leftAt === null).length);
    if (event.type === 'user_left') end(openOf(event.userId), timestamp, event.reason);
    if (event.type !== 'room_destroyed') continue;
    ended = { endedAt: timestamp, reason: event.reason };
    for (const session of sessions) if (session.leftAt === null) end(session, timestamp, event.reason);
  }
  const totalMembers = new Set(sessions.map(({ userId }) => userId)).size;
  return { call: { ...ended, peakMembers, totalMembers }, sessions };
}

type Open = { -readonly [Key in keyof Omit<CallParticipant, 'seq'>]: CallParticipant[Key] };

type MemberEvent = Extract<RoomFeedEvent, { member: object }>;

/** @param seats participants by user, joining instant and sequence number, which identify a seat. */
function applyMember(sessions: Open[], seats: Map<string, Open>, open: Open | undefined, event: MemberEvent): void {
  const { userId, member, type } = event;
  const { name, joinedAt, seq, mediaType = null } = member;
  const seat = `${userId} ${joinedAt} ${seq}`;
  const known = type === 'user_joined' ? undefined : (open ?? seats.get(seat));
  const session = known ?? { userId, joinedAt, leftAt: null, reason: null, name, mediaType };
  Object.assign(session, { name, mediaType, leftAt: null, reason: null });
  seats.set(seat, session);
  if (known === undefined) sessions.push(session);
}

test('records go on after Redis was killed and restarted from its dump', async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const database = openDatabase(`sqlite:${folder.path}/calls.db`);
  const engine = await createRedisEngine({ url: redis.url })({ ...settingsOf(9_000), feedMaxEvents: 1_000 });
  const clock = { ...systemClock, advance: () => {} };
  const rooms = new EngineHarness(engine, clock);
  const record = () => retry(() => recordAll(recorderOf(database, rooms)));
  const room = await rooms.room(['anna', 'ben']);
  const admin = createClient({ url: redis.url });
  await admin.connect();
  await admin.sendCommand(['SAVE']);
  admin.destroy();
  await rooms.leave(room, 'ben');
  await rooms.join(room, 'carl');
  await rooms.leave(room, 'carl');
  await rooms.join(room, 'dora');
  await record();
  expect(await findCall(database, room.ref)).toMatchObject({ complete: true, totalMembers: 4 });

  await redis.kill();
  await redis.restart();
  await retry(async () => {
    const joined = await rooms.join(room, 'zoe');
    if (!joined.ok) throw new Error(joined.reason);
  });
  await record();
  expect(await findCall(database, room.ref)).toMatchObject({ complete: false, endedAt: null, totalMembers: 5 });
  await rooms.close(room, 'anna');
  await record();
  const call = await findCall(database, room.ref);
  expect(call).toMatchObject({ complete: false, reason: 'closed', hostId: 'anna', totalMembers: 5 });
  expect(call?.participants.map(({ userId, reason }) => [userId, reason])).toEqual([
    ['anna', 'closed'],
    ['ben', 'left'],
    ['carl', 'left'],
    ['dora', 'closed'],
    ['zoe', 'closed'],
  ]);
  await database.close();
  await engine.close();
});
