/** Lists of calls: filters, order and pages. */
import { expect, test } from 'vitest';
import { CursorMalformed } from '../../../src/records/port.ts';
import { findCall, listCalls } from '../../../src/records/read.ts';
import type { DatabaseHarness } from '../../database/harness.ts';
import { nthCode } from '../../engine/harness.ts';
import { refOf } from '../../room/fixtures.ts';
import { recordRooms, startRooms } from '../harness.ts';

const MINUTE = 60_000;

export function lists(harness: DatabaseHarness): void {
  test('pages list the newest call first, each call once, whatever is recorded meanwhile', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    for (let number = 1; number <= 25; number += 1) {
      await rooms.create('anna', { ref: refOf(number) });
      // Several calls of the same instant.
      if (number % 3 === 0) rooms.clock.advance(1_000);
    }
    await recordRooms(rooms, database);
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await listCalls(database, { limit: 10, cursor: cursor ?? undefined });
      seen.push(...page.calls.map(({ ref }) => ref));
      cursor = page.cursor;
      rooms.clock.advance(1_000);
      await rooms.create('anna', { ref: refOf(100 + seen.length) });
      await recordRooms(rooms, database);
    } while (cursor !== null);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => refOf(25 - index)));
    await expect(listCalls(database, { limit: 1, cursor: 'bm8' })).rejects.toThrow(CursorMalformed);
  });

  test('calls are found by time, code and participant; ids differ by case', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const began = rooms.clock.now();
    await rooms.room(['anna', 'ben'], { ref: refOf(1), candidates: [nthCode(1)] });
    rooms.clock.advance(MINUTE);
    await rooms.room(['Anna', 'zoe'], { ref: refOf(2), candidates: [nthCode(2)] });
    rooms.clock.advance(MINUTE);
    await rooms.room(['ben'], { ref: refOf(3), candidates: [nthCode(3)] });
    await recordRooms(rooms, database);
    const found = async (query: object) =>
      (await listCalls(database, { limit: 10, ...query })).calls.map(({ ref }) => ref);
    expect(await found({})).toEqual([refOf(3), refOf(2), refOf(1)]);
    expect(await found({ from: began + MINUTE })).toEqual([refOf(3), refOf(2)]);
    expect(await found({ to: began + MINUTE })).toEqual([refOf(1)]);
    expect(await found({ from: began + 1, to: began + 2 * MINUTE })).toEqual([refOf(2)]);
    expect(await found({ code: nthCode(2) })).toEqual([refOf(2)]);
    expect(await found({ user: 'anna' })).toEqual([refOf(1)]);
    expect(await found({ user: 'Anna' })).toEqual([refOf(2)]);
    expect(await found({ user: 'ben' })).toEqual([refOf(3), refOf(1)]);
    expect(await found({ user: 'ben', code: nthCode(1) })).toEqual([refOf(1)]);
    expect(await found({ user: 'nobody' })).toEqual([]);
    expect(await findCall(database, refOf(9))).toBeUndefined();
  });
}
