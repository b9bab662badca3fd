/** Poison events: an event that the database refuses is lost itself, and no later event with it. */
import { expect, test } from 'vitest';
import type { Feed } from '../../../src/engine/feed.ts';
import type { FeedEvent } from '../../../src/protocol/feed.ts';
import { findCall, listCalls, readLost } from '../../../src/records/read.ts';
import { createRecorder } from '../../../src/records/recorder.ts';
import type { DatabaseHarness } from '../../database/harness.ts';
import type { EngineHarness } from '../../engine/harness.ts';
import { refOf } from '../../room/fixtures.ts';
import { listening } from '../../support/log.ts';
import { recordAll, recorderOf, startRooms } from '../harness.ts';

export function poisonEvents(harness: DatabaseHarness): void {
  test('an event that is refused repeatedly is skipped, counted and logged, and all others are recorded', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    for (let number = 1; number <= 60; number += 1) {
      const room = await rooms.room(['anna', 'ben'], { ref: refOf(number) });
      await rooms.close(room, 'anna');
    }
    const { log, lines } = listening();
    const bad = [refOf(20), refOf(30)];
    const recorder = createRecorder(recorderOf(database, withBadJoins(rooms, bad), { log }));
    for (let times = 0; times < 3; times += 1) await expect(recorder.record()).rejects.toThrow();
    expect((await listCalls(database, { limit: 1 })).calls).toEqual([]);
    while (await recorder.record());
    const { calls } = await listCalls(database, { limit: 100 });
    expect(calls).toHaveLength(60);
    expect(calls.flatMap(({ complete, ref }) => (complete ? [] : [ref])).sort()).toEqual(bad);
    expect(calls.every(({ reason }) => reason === 'closed')).toBe(true);
    expect(await readLost(database)).toEqual({ events: 2, signals: 0 });
    expect(lines).toEqual(bad.map((ref) => `error an event cannot be recorded, and is skipped ${ref}:1`));
  });

  test('no event is skipped while the database refuses every record', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const room = await rooms.room(['anna', 'ben']);
    await rooms.close(room, 'anna');
    await database.open();
    await database.run('ALTER TABLE signalbox_calls RENAME TO elsewhere');
    const recorder = createRecorder(recorderOf(database, rooms));
    for (let times = 0; times < 6; times += 1) await expect(recorder.record()).rejects.toThrow();
    expect(await readLost(database)).toEqual({ events: 0, signals: 0 });
    await database.run('ALTER TABLE elsewhere RENAME TO signalbox_calls');
    await recordAll(recorderOf(database, rooms));
    expect(await findCall(database, room.ref)).toMatchObject({ reason: 'closed', complete: true });
  });
}

/** In these rooms, the host's join event has no instant. */
function withBadJoins({ engine, clock }: EngineHarness, refs: readonly string[]) {
  const spoilt = (event: FeedEvent): FeedEvent =>
    event.type === 'user_joined' && event.rev === 1 && refs.includes(event.ref)
      ? // Invalid on purpose: no type allows it.
        { ...event, member: { ...event.member, joinedAt: null as never } }
      : event;
  const feed: Feed = {
    ...engine.feed,
    async read(ask) {
      const page = await engine.feed.read(ask);
      return { ...page, events: page.events.map(spoilt) };
    },
  };
  return { engine: { feed }, clock };
}
