/** Clean-up: calls without an end event, and records whose retention is over. */
import { expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { findCall, listCalls } from '../../../src/records/read.ts';
import { createSignalCounts } from '../../../src/records/signal-counts.ts';
import { endOrphans, sweep } from '../../../src/records/sweep.ts';
import { silentLog } from '../../../src/support/log.ts';
import { systemRandom } from '../../../src/support/random.ts';
import type { DatabaseHarness } from '../../database/harness.ts';
import { refOf } from '../../room/fixtures.ts';
import { FEED, recordAll, recorderOf, recordRooms, startRooms } from '../harness.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const sweepAt = (database: Database, now: number, retentionMs = 0) =>
  sweep({ database, feedName: FEED, retentionMs, clock: { now: () => now }, steady: { now: () => now } });

export function sweeping(harness: DatabaseHarness): void {
  test('the age of a record is never taken from a clock that is wrong', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const room = await rooms.room(['anna']);
    await rooms.close(room, 'anna');
    await recordRooms(rooms, database);
    const ended = rooms.clock.now();
    const kept = async () => (await findCall(database, room.ref)) !== undefined;
    const sweepBy = (wall: number, steady: number) =>
      sweep({ database, feedName: FEED, retentionMs: DAY, clock: { now: () => wall }, steady: { now: () => steady } });
    await sweepBy(ended + 400 * DAY, ended + MINUTE);
    expect(await kept()).toBe(true);
    // The turn of the next node came by a clock that has been set back since.
    await sweepBy(ended + 2 * MINUTE, ended + 2 * MINUTE);
    await database.run('UPDATE signalbox_calls SET ended_at = ?', [MINUTE]);
    await sweepBy(ended + 400 * DAY, ended + 400 * DAY);
    expect(await kept()).toBe(true);
    await database.run('UPDATE signalbox_calls SET ended_at = ?', [ended]);
    await sweepBy(ended + 401 * DAY, ended + 401 * DAY);
    expect(await kept()).toBe(false);
  });

  test('a call without an end event is ended after its longest lifetime', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const room = await rooms.room(['anna', 'ben']);
    rooms.clock.advance(MINUTE);
    await rooms.leave(room, 'ben');
    const left = rooms.clock.now();
    await recordRooms(rooms, database);
    await sweepAt(database, left + DAY);
    expect(await findCall(database, room.ref)).toMatchObject({ endedAt: null });
    await sweepAt(database, left + DAY + 20 * MINUTE);
    expect(await findCall(database, room.ref)).toMatchObject({
      endedAt: left,
      reason: 'unknown',
      complete: false,
      participants: [
        { userId: 'anna', leftAt: left, reason: 'unknown' },
        { userId: 'ben', leftAt: left, reason: 'left' },
      ],
    });
    // The event was only late.
    await rooms.join(room, 'ben');
    await recordRooms(rooms, database);
    expect(await findCall(database, room.ref)).toMatchObject({ endedAt: null, reason: null });
    await rooms.close(room, 'anna');
    await recordRooms(rooms, database);
    expect(await findCall(database, room.ref)).toMatchObject({ endedAt: left, reason: 'closed', complete: false });
  });

  test('calls of an earlier process are ended, and those of other nodes go on', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const others = startRooms();
    await rooms.room(['anna', 'ben'], { ref: refOf(1) });
    await others.room(['anna', 'ben'], { ref: refOf(2) });
    await recordRooms(rooms, database);
    await recordAll(recorderOf(database, others, { feedName: 'memory other' }));
    await endOrphans({ database, feedName: FEED });
    expect(await findCall(database, refOf(1))).toMatchObject({ reason: 'unknown' });
    expect(await findCall(database, refOf(2))).toMatchObject({ reason: null });
  });

  test('records are kept for their retention time, whichever node cleans up', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const old = await rooms.room(['anna', 'ben'], { ref: refOf(1) });
    await rooms.close(old, 'anna');
    const began = rooms.clock.now();
    rooms.clock.advance(5 * MINUTE);
    const newer = await rooms.room(['anna', 'ben'], { ref: refOf(2) });
    await rooms.close(newer, 'anna');
    await rooms.room(['zoe'], { ref: refOf(3) });
    await recordRooms(rooms, database);
    const signals = createSignalCounts({ database, clock: rooms.clock, random: systemRandom, log: silentLog });
    for (const number of [1, 2, 9]) signals.count(refOf(number), 1);
    await signals.write();
    const kept = async () => (await listCalls(database, { limit: 10 })).calls.map(({ ref }) => ref);
    await sweepAt(database, began + DAY, DAY);
    expect(await kept()).toHaveLength(3);
    await sweepAt(database, began + DAY + 2 * MINUTE, DAY);
    expect(await kept()).toEqual([refOf(3), refOf(2)]);
    // No other node cleans up within the same minute.
    await sweepAt(database, began + DAY + 2 * MINUTE + 59_000, 1);
    expect(await kept()).toEqual([refOf(3), refOf(2)]);
    await sweepAt(database, began + 3 * DAY, 0);
    expect(await kept()).toEqual([refOf(3), refOf(2)]);
    await sweepAt(database, began + 4 * DAY, DAY);
    expect(await kept()).toEqual([]);
    for (const table of ['participants', 'signals'])
      expect(await database.rows(`SELECT ref FROM signalbox_${table}`)).toEqual([]);
  });

  test('many calls are deleted in several steps', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    for (let number = 1; number <= 150; number += 1) {
      const room = await rooms.room(['anna'], { ref: refOf(number) });
      await rooms.close(room, 'anna');
    }
    await recordRooms(rooms, database);
    const now = rooms.clock.now() + 2 * DAY;
    expect(await sweepAt(database, now, DAY)).toBe(true);
    expect(await sweepAt(database, now, DAY)).toBe(false);
    expect((await listCalls(database, { limit: 200 })).calls).toEqual([]);
  });
}
