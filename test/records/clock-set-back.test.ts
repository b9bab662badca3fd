/** A store whose clock is set back in the middle of calls, as Redis is after a failover: no record lasts less than nothing. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import type { Feed } from '../../src/engine/feed.ts';
import { csvLineOf } from '../../src/records/csv.ts';
import { findCall } from '../../src/records/read.ts';
import { temporaryFolder } from '../support/process.ts';
import { recordAll, recorderOf, recordRooms, startRooms } from './harness.ts';

test('a call whose events go back in time has no negative duration, and is marked incomplete', async () => {
  await using folder = await temporaryFolder();
  const database = openDatabase(`sqlite:${folder.path}/signalbox.db`);
  const rooms = startRooms();
  const room = await rooms.room(['anna', 'ben']);
  await recordRooms(rooms, database);
  await rooms.leave(room, 'ben');
  await rooms.close(room, 'anna');
  const { feed } = rooms.engine;
  const setBack: Feed = {
    ...feed,
    async read(ask) {
      const page = await feed.read(ask);
      return { ...page, events: page.events.map((event) => ({ ...event, timestamp: event.timestamp - 60_000 })) };
    },
  };
  await recordAll(recorderOf(database, rooms, { feed: setBack }));
  const call = (await findCall(database, room.ref)) ?? expect.unreachable();
  expect(call).toMatchObject({ reason: 'closed', complete: false, endedAt: call.createdAt });
  for (const { joinedAt, leftAt } of call.participants) expect(leftAt).toBe(joinedAt);
  expect(csvLineOf(call)).toContain(',0,closed,');
  // Of a record that was written by an earlier version.
  expect(csvLineOf({ ...call, endedAt: call.createdAt - 58_000 })).toContain(',0,closed,');
  await database.close();
});
