/** What call records promise, in every database. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { CursorMalformed, RecordsUnavailable } from '../../src/records/calls.ts';
import { findCall, listCalls, lostEvents } from '../../src/records/reading.ts';
import { recordPage } from '../../src/records/recorder.ts';
import { createSignalCounts } from '../../src/records/signals.ts';
import { endOrphans, sweep } from '../../src/records/sweep.ts';
import { silentLog } from '../../src/support/log.ts';
import { systemRandom } from '../../src/support/random.ts';
import { code, refOf, type Stage } from '../engine/stage.ts';
import { type LedgerStage, STAGES } from '../reference/ledger-stage.ts';
import { eventually, FEED, recordAll, recorderOf, startRooms } from './stage.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe.each(STAGES)('$name', ({ start }) => {
  let stage: LedgerStage;
  const open: Database[] = [];
  const databaseAt = (url: string): Database => {
    const database = openDatabase(url);
    open.push(database);
    return database;
  };
  const fresh = async () => databaseAt(await stage.empty());
  const record = async (rooms: Stage, database: Database) => recordAll(recorderOf(database, rooms));
  const sweepAt = (database: Database, now: number, keptMs = 0) =>
    sweep({ database, feedName: FEED, keptMs, clock: { now: () => now } });

  beforeAll(async () => {
    stage = await start();
  });
  afterAll(async () => {
    await Promise.all(open.map((database) => database.close()));
    await stage[Symbol.asyncDispose]();
  });

  test('a call from its creation to its end', async () => {
    const database = await fresh();
    const rooms = startRooms();
    const began = rooms.clock.now();
    const room = await rooms.room(['anna'], { settings: { name: 'Stand-up', type: 'video' } });
    rooms.clock.advance(1_000);
    await rooms.join(room, 'ben', { profile: { name: 'Ben', mediaType: 'audio' } });
    await rooms.join(room, 'Anna');
    rooms.clock.advance(1_000);
    await rooms.updateSeat(room, 'ben', { mediaType: 'video' });
    await rooms.leave(room, 'ben');
    await record(rooms, database);
    expect(await findCall(database, room.ref)).toMatchObject({ endedAt: null, reason: null, peakMembers: 3 });
    await rooms.join(room, 'ben');
    await rooms.leave(room, 'anna');
    rooms.clock.advance(1_000);
    await rooms.kick(room, 'ben', 'Anna');
    await rooms.kick(room, 'Anna', 'ben');
    await rooms.close(room, 'ben');
    await rooms.close(room, 'Anna');
    await record(rooms, database);

    const session = { name: null, mediaType: null };
    expect(await findCall(database, room.ref)).toEqual({
      ref: room.ref,
      code: room.code,
      type: 'video',
      name: 'Stand-up',
      createdAt: began,
      endedAt: began + 3_000,
      reason: 'closed',
      hostId: 'Anna',
      createdBy: 'anna',
      peakMembers: 3,
      totalMembers: 3,
      signals: 0,
      complete: true,
      sessions: [
        { ...session, seq: 1, userId: 'anna', joinedAt: began, leftAt: began + 2_000, reason: 'left' },
        {
          ...session,
          seq: 2,
          userId: 'ben',
          name: 'Ben',
          mediaType: 'video',
          joinedAt: began + 1_000,
          leftAt: began + 2_000,
          reason: 'left',
        },
        { ...session, seq: 3, userId: 'Anna', joinedAt: began + 1_000, leftAt: began + 3_000, reason: 'closed' },
        { ...session, seq: 4, userId: 'ben', joinedAt: began + 2_000, leftAt: began + 3_000, reason: 'kicked' },
      ],
    });
  });

  test('a room that a back end opens has no creator, and its host is who came first', async () => {
    const database = await fresh();
    const rooms = startRooms();
    const founded = await rooms.found();
    if (!founded.ok) return expect.unreachable();
    await rooms.join(founded.room, 'ben');
    await record(rooms, database);
    expect(await findCall(database, founded.room.ref)).toMatchObject({
      createdBy: null,
      hostId: 'ben',
      complete: true,
    });
  });

  test('what people write comes back as they wrote it', async () => {
    const database = await fresh();
    const rooms = startRooms();
    const names = [String.raw`\'; DROP TABLE signalbox_calls; --`, `"O'Neil"`, '🚂 Zoë', String.raw`a\\b?c$1`];
    const made = await Promise.all(names.map((name) => rooms.create('zoe', { settings: { name } })));
    await record(rooms, database);
    const { calls } = await listCalls(database, { limit: 10 });
    expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(names));
    expect(made.every(({ ok }) => ok)).toBe(true);
  });

  test('pages: the newest first, nothing twice and nothing left out, whatever is recorded meanwhile', async () => {
    const database = await fresh();
    const rooms = startRooms();
    for (let number = 1; number <= 25; number += 1) {
      await rooms.create('anna', { ref: refOf(number) });
      // Several of one instant.
      if (number % 3 === 0) rooms.clock.advance(1_000);
    }
    await record(rooms, database);
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await listCalls(database, { limit: 10, cursor: cursor ?? undefined });
      seen.push(...page.calls.map(({ ref }) => ref));
      cursor = page.cursor;
      rooms.clock.advance(1_000);
      await rooms.create('anna', { ref: refOf(100 + seen.length) });
      await record(rooms, database);
    } while (cursor !== null);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => refOf(25 - index)));
    await expect(listCalls(database, { limit: 1, cursor: 'bm8' })).rejects.toThrow(CursorMalformed);
  });

  test('calls by time, code and who was there; ids differ by case', async () => {
    const database = await fresh();
    const rooms = startRooms();
    const began = rooms.clock.now();
    await rooms.room(['anna', 'ben'], { ref: refOf(1), candidates: [code(1)] });
    rooms.clock.advance(MINUTE);
    await rooms.room(['Anna', 'zoe'], { ref: refOf(2), candidates: [code(2)] });
    rooms.clock.advance(MINUTE);
    await rooms.room(['ben'], { ref: refOf(3), candidates: [code(3)] });
    await record(rooms, database);
    const found = async (query: object) =>
      (await listCalls(database, { limit: 10, ...query })).calls.map(({ ref }) => ref);
    expect(await found({})).toEqual([refOf(3), refOf(2), refOf(1)]);
    expect(await found({ from: began + MINUTE })).toEqual([refOf(3), refOf(2)]);
    expect(await found({ to: began + MINUTE })).toEqual([refOf(1)]);
    expect(await found({ from: began + 1, to: began + 2 * MINUTE })).toEqual([refOf(2)]);
    expect(await found({ code: code(2) })).toEqual([refOf(2)]);
    expect(await found({ user: 'anna' })).toEqual([refOf(1)]);
    expect(await found({ user: 'Anna' })).toEqual([refOf(2)]);
    expect(await found({ user: 'ben' })).toEqual([refOf(3), refOf(1)]);
    expect(await found({ user: 'ben', code: code(1) })).toEqual([refOf(1)]);
    expect(await found({ user: 'nobody' })).toEqual([]);
    expect(await findCall(database, refOf(9))).toBeUndefined();
  });

  test('several recorders of one feed: every event once', async () => {
    const url = await stage.empty();
    const rooms = startRooms(600);
    for (let number = 1; number <= 300; number += 1) {
      const room = await rooms.room(['anna', 'ben', 'carl'], { ref: refOf(number) });
      await rooms.leave(room, 'ben');
    }
    // 5 events of each of 300 rooms, of which the feed has kept the newest at most 900.
    const kept = (await rooms.engine.feed.read({ limit: 10_000 })).events.length;
    const recorders = [url, url, url].map((each) => recorderOf(databaseAt(each), rooms));
    const work = recorders.map(async (recorder) => {
      let still = 0;
      while (still < 3) still = (await eventually(() => recordPage(recorder))) ? 0 : still + 1;
    });
    await Promise.all(work);
    const [database] = open.slice(-1);
    if (database === undefined) return expect.unreachable();
    const calls = (await listCalls(database, { limit: 1_000 })).calls;
    expect(calls).toHaveLength(Math.ceil(kept / 5));
    for (const call of calls.filter(({ complete }) => complete)) {
      expect(call).toMatchObject({ peakMembers: 3, totalMembers: 3 });
      expect(call.sessions.map(({ userId, reason }) => [userId, reason])).toEqual([
        ['anna', null],
        ['ben', 'left'],
        ['carl', null],
      ]);
    }
    expect(calls.filter(({ complete }) => !complete).length).toBeLessThanOrEqual(1);
  });

  test('events that the feed keeps no more are counted, and their calls say so', async () => {
    const database = await fresh();
    const rooms = startRooms(10);
    const room = await rooms.room(['anna', 'ben']);
    await record(rooms, database);
    for (let times = 0; times < 20; times += 1) {
      await rooms.leave(room, 'ben');
      await rooms.join(room, 'ben');
    }
    const { lost } = await rooms.engine.feed.read({
      after: String((await database.rows('SELECT place FROM signalbox_feeds'))[0]?.['place']),
      limit: 1,
    });
    expect(lost).toBeGreaterThan(0);
    await record(rooms, database);
    expect(await lostEvents(database)).toBe(lost);
    const call = await findCall(database, room.ref);
    expect(call).toMatchObject({ complete: false, peakMembers: 2, totalMembers: 2 });
    expect(call?.sessions.filter(({ leftAt }) => leftAt === null)).toHaveLength(2);
    await rooms.close(room, 'anna');
    await record(rooms, database);
    expect((await findCall(database, room.ref))?.sessions.every(({ leftAt }) => leftAt !== null)).toBe(true);
  });

  test('read again from the beginning, a feed changes nothing', async () => {
    const database = await fresh();
    const rooms = startRooms();
    const room = await rooms.room(['anna', 'ben']);
    await rooms.leave(room, 'ben');
    await record(rooms, database);
    const before = await listCalls(database, { limit: 10 });
    await recordAll(recorderOf(database, rooms, { feedName: 'by another name' }));
    await database.run('UPDATE signalbox_feeds SET place = ?', ['of another life']);
    await record(rooms, database);
    expect(await listCalls(database, { limit: 10 })).toEqual(before);
  });

  test('signals, before the call is there and after, of two nodes; an answer that is lost counts none twice', async () => {
    const database = await fresh();
    const rooms = startRooms();
    const clock = rooms.clock;
    let lose = false;
    const forgetful: Database = {
      ...database,
      transaction: async (work) => {
        const result = await database.transaction(work);
        if (lose) throw new Error('the answer was lost');
        return result;
      },
    };
    const parts = { clock, random: systemRandom, log: silentLog };
    const one = createSignalCounts({ ...parts, database: forgetful });
    const two = createSignalCounts({ ...parts, database });
    one.count(refOf(1), 3);
    await one.write();
    await rooms.room(['anna', 'ben'], { ref: refOf(1) });
    await record(rooms, database);
    two.count(refOf(1), 4);
    two.count(refOf(1), 1);
    await two.write();
    lose = true;
    one.count(refOf(1), 10);
    await expect(one.write()).rejects.toThrow('lost');
    lose = false;
    one.count(refOf(1), 100);
    while (await one.write());
    await one.write();
    expect(await findCall(database, refOf(1))).toMatchObject({ signals: 118 });
  });

  test('what became of a call that nobody saw end', async () => {
    const database = await fresh();
    const rooms = startRooms();
    const room = await rooms.room(['anna', 'ben']);
    rooms.clock.advance(MINUTE);
    await rooms.leave(room, 'ben');
    const left = rooms.clock.now();
    await record(rooms, database);
    await sweepAt(database, left + DAY);
    expect(await findCall(database, room.ref)).toMatchObject({ endedAt: null });
    await sweepAt(database, left + DAY + 20 * MINUTE);
    expect(await findCall(database, room.ref)).toMatchObject({
      endedAt: left,
      reason: 'unknown',
      complete: false,
      sessions: [
        { userId: 'anna', leftAt: left, reason: 'unknown' },
        { userId: 'ben', leftAt: left, reason: 'left' },
      ],
    });
    // It was only late.
    await rooms.join(room, 'ben');
    await record(rooms, database);
    expect(await findCall(database, room.ref)).toMatchObject({ endedAt: null, reason: null });
    await rooms.close(room, 'anna');
    await record(rooms, database);
    expect(await findCall(database, room.ref)).toMatchObject({ endedAt: left, reason: 'closed', complete: false });
  });

  test('calls of a former life of the process end with it, those of others go on', async () => {
    const database = await fresh();
    const rooms = startRooms();
    const others = startRooms();
    await rooms.room(['anna', 'ben'], { ref: refOf(1) });
    await others.room(['anna', 'ben'], { ref: refOf(2) });
    await record(rooms, database);
    await recordAll(recorderOf(database, others, { feedName: 'memory other' }));
    await endOrphans({ database, feedName: FEED });
    expect(await findCall(database, refOf(1))).toMatchObject({ reason: 'unknown' });
    expect(await findCall(database, refOf(2))).toMatchObject({ reason: null });
  });

  test('records are kept for their time, whoever clears away', async () => {
    const database = await fresh();
    const rooms = startRooms();
    const old = await rooms.room(['anna', 'ben'], { ref: refOf(1) });
    await rooms.close(old, 'anna');
    const began = rooms.clock.now();
    rooms.clock.advance(5 * MINUTE);
    const newer = await rooms.room(['anna', 'ben'], { ref: refOf(2) });
    await rooms.close(newer, 'anna');
    await rooms.room(['zoe'], { ref: refOf(3) });
    await record(rooms, database);
    const signals = createSignalCounts({ database, clock: rooms.clock, random: systemRandom, log: silentLog });
    for (const number of [1, 2, 9]) signals.count(refOf(number), 1);
    await signals.write();
    const kept = async () => (await listCalls(database, { limit: 10 })).calls.map(({ ref }) => ref);
    await sweepAt(database, began + DAY, DAY);
    expect(await kept()).toHaveLength(3);
    await sweepAt(database, began + DAY + 2 * MINUTE, DAY);
    expect(await kept()).toEqual([refOf(3), refOf(2)]);
    // Within a minute nobody else does it again.
    await sweepAt(database, began + DAY + 2 * MINUTE + 59_000, 1);
    expect(await kept()).toEqual([refOf(3), refOf(2)]);
    await sweepAt(database, began + 3 * DAY, 0);
    expect(await kept()).toEqual([refOf(3), refOf(2)]);
    await sweepAt(database, began + 4 * DAY, DAY);
    expect(await kept()).toEqual([]);
    for (const table of ['sessions', 'signals'])
      expect(await database.rows(`SELECT ref FROM signalbox_${table}`)).toEqual([]);
  });

  test('many at once are cleared away in several steps', async () => {
    const database = await fresh();
    const rooms = startRooms();
    for (let number = 1; number <= 150; number += 1) {
      const room = await rooms.room(['anna'], { ref: refOf(number) });
      await rooms.close(room, 'anna');
    }
    await record(rooms, database);
    const now = rooms.clock.now() + 2 * DAY;
    expect(await sweepAt(database, now, DAY)).toBe(true);
    expect(await sweepAt(database, now, DAY)).toBe(false);
    expect((await listCalls(database, { limit: 200 })).calls).toEqual([]);
  });

  test('while the database answers nobody nothing is lost, and it is all there afterwards', async () => {
    const url = await stage.empty();
    const database = databaseAt(url);
    const rooms = startRooms();
    const room = await rooms.room(['anna', 'ben']);
    await record(rooms, database);
    const counts = createSignalCounts({ database, clock: rooms.clock, random: systemRandom, log: silentLog });
    const thaw = await stage.freeze(url);
    await rooms.close(room, 'anna');
    counts.count(room.ref, 7);
    const answers = await Promise.allSettled([recordAll(recorderOf(database, rooms)), counts.write()]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    thaw();
    await stage.server?.kill();
    if (stage.server !== undefined) await expect(findCall(database, room.ref)).rejects.toThrow(RecordsUnavailable);
    await stage.server?.start();
    await eventually(() => record(rooms, database));
    await eventually(() => counts.write());
    expect(await findCall(database, room.ref)).toMatchObject({ reason: 'closed', complete: true, signals: 7 });
    expect(await lostEvents(database)).toBe(0);
  });
});
