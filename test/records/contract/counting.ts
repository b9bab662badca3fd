/** Signal counts, and outages of the database. */
import { expect, test } from 'vitest';
import { type Database, DatabaseUnavailable } from '../../../src/database/database.ts';
import { findCall, readLost } from '../../../src/records/read.ts';
import { createSignalCounts } from '../../../src/records/signal-counts.ts';
import { silentLog } from '../../../src/support/log.ts';
import { systemRandom } from '../../../src/support/random.ts';
import type { DatabaseHarness } from '../../database/harness.ts';
import { refOf } from '../../room/fixtures.ts';
import { retry } from '../../support/retry.ts';
import { recordAll, recorderOf, recordRooms, startRooms } from '../harness.ts';

export function counting(harness: DatabaseHarness): void {
  test('signals of two nodes are added up, before the call is recorded and after; a lost answer counts none twice', async () => {
    const database = await harness.fresh();
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
    await recordRooms(rooms, database);
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

  test('nothing is lost while the database does not answer, and all is recorded afterwards', async () => {
    const url = await harness.host.empty();
    const database = harness.databaseAt(url);
    const rooms = startRooms();
    const room = await rooms.room(['anna', 'ben']);
    await recordRooms(rooms, database);
    const counts = createSignalCounts({ database, clock: rooms.clock, random: systemRandom, log: silentLog });
    const thaw = await harness.host.freeze(url);
    await rooms.close(room, 'anna');
    counts.count(room.ref, 7);
    const answers = await Promise.allSettled([recordAll(recorderOf(database, rooms)), counts.write()]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    thaw();
    await harness.host.server?.kill();
    if (harness.host.server !== undefined)
      await expect(findCall(database, room.ref)).rejects.toThrow(DatabaseUnavailable);
    await harness.host.server?.start();
    await retry(() => recordRooms(rooms, database));
    await retry(() => counts.write());
    expect(await findCall(database, room.ref)).toMatchObject({ reason: 'closed', complete: true, signals: 7 });
    expect(await readLost(database)).toEqual({ events: 0, signals: 0 });
  });
}
