/** Lost events: the records stay consistent, and are marked incomplete. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import type { FeedEvent } from '../../src/protocol/feed.ts';
import { findCall } from '../../src/records/read.ts';
import { refOf } from '../room/fixtures.ts';
import { temporaryFolder } from '../support/process.ts';
import { recordAll, recorderOf, startRooms } from './harness.ts';

test('a record is consistent whichever events of its call are lost', async () => {
  const events = await eventsOfCall();
  const ended = events.at(-1)?.timestamp;
  await using folder = await temporaryFolder();
  const database = openDatabase(`sqlite:${folder.path}/signalbox.db`);
  for (let from = 0; from < events.length; from += 1) {
    for (let to = from + 1; to <= events.length; to += 1) {
      const ref = refOf(1_000 * from + to);
      const rest = [...events.slice(0, from), ...events.slice(to)].map((event) => ({ ...event, ref }) as FeedEvent);
      const feed = {
        ...startRooms().engine.feed,
        read: async () => ({ events: rest, position: ref, lost: to - from }),
      };
      await recordAll(recorderOf(database, { engine: { feed }, clock: startRooms().clock }, { feedName: ref }));
      const call = await findCall(database, ref);
      if (rest.length === 0) {
        expect(call).toBeUndefined();
        continue;
      }
      // Events lost at the end cannot be noticed yet.
      expect(call?.complete).toBe(to === events.length);
      expect(call?.endedAt).toBe(to === events.length ? null : ended);
      if (call?.endedAt === ended) expect(call?.participants.filter(({ leftAt }) => leftAt === null)).toEqual([]);
      expect(call?.peakMembers).toBeLessThanOrEqual(3);
      expect(call?.totalMembers).toBe(new Set(call?.participants.map(({ userId }) => userId)).size);
      expect(new Set(call?.participants.map(({ seq }) => seq)).size).toBe(call?.participants.length);
    }
  }
  await database.close();
});

/** 14 events, among them a resumed member and an updated one. */
async function eventsOfCall(): Promise<readonly FeedEvent[]> {
  const rooms = startRooms();
  const room = await rooms.room(['anna', 'ben', 'carl']);
  const step = async (work: Promise<unknown>) => {
    rooms.clock.advance(1_000);
    await work;
  };
  await step(rooms.suspend(room, 'ben'));
  await step(rooms.resume(room, 'ben', 2));
  await step(rooms.updateSeat(room, 'carl', { name: 'Carl' }));
  await step(rooms.leave(room, 'carl'));
  await step(rooms.join(room, 'carl'));
  await step(rooms.leave(room, 'anna'));
  await step(rooms.updateRoom(room, 'ben', { name: 'Late' }, 2));
  await step(rooms.close(room, 'ben', 2));
  return (await rooms.engine.feed.read({ limit: 100 })).events;
}
