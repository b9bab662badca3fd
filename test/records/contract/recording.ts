/** Recording the feed: each event once, by any node, and losses are counted. */
import { expect, test } from 'vitest';
import type { Feed } from '../../../src/engine/feed.ts';
import { findCall, listCalls, readLost } from '../../../src/records/read.ts';
import { createRecorder } from '../../../src/records/recorder.ts';
import { SHARDS } from '../../../src/room/pool.ts';
import type { DatabaseHarness } from '../../database/harness.ts';
import { createHandClock, EngineHarness, settingsOf } from '../../engine/harness.ts';
import { startRedisHarness } from '../../engine/redis-harness.ts';
import { refOf } from '../../room/fixtures.ts';
import { startClusterOfOne } from '../../support/redis-cluster.ts';
import { retry } from '../../support/retry.ts';
import { recordAll, recorderOf, recordRooms, startRooms } from '../harness.ts';

export function recording(harness: DatabaseHarness): void {
  test('several recorders of one feed record every event once', async () => {
    const url = await harness.host.empty();
    const rooms = startRooms(600);
    for (let number = 1; number <= 300; number += 1) {
      const room = await rooms.room(['anna', 'ben', 'carl'], { ref: refOf(number) });
      await rooms.leave(room, 'ben');
    }
    // 5 events of each of 300 rooms, of which the feed keeps the newest 900 at most.
    const kept = (await rooms.engine.feed.read({ limit: 10_000 })).events.length;
    const recorders = [url, url, url].map((each) => createRecorder(recorderOf(harness.databaseAt(each), rooms)));
    const work = recorders.map(async (recorder) => {
      let still = 0;
      while (still < 3) still = (await retry(() => recorder.record())) ? 0 : still + 1;
    });
    await Promise.all(work);
    const database = harness.databaseAt(url);
    const calls = (await listCalls(database, { limit: 1_000 })).calls;
    expect(calls).toHaveLength(Math.ceil(kept / 5));
    for (const call of calls.filter(({ complete }) => complete)) {
      expect(call).toMatchObject({ peakMembers: 3, totalMembers: 3 });
      expect(call.participants.map(({ userId, reason }) => [userId, reason])).toEqual([
        ['anna', null],
        ['ben', 'left'],
        ['carl', null],
      ]);
    }
    expect(calls.filter(({ complete }) => !complete).length).toBeLessThanOrEqual(1);
    // Events that were dropped before the first read are in no record.
    expect(await readLost(database)).toEqual({ events: 1_500 - kept, signals: 0 });
  });

  test('a page that is short because of unknown event types is not the end of the feed', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const room = await rooms.room(['anna', 'ben']);
    for (let session = 2; session < 200; session += 1) {
      await rooms.suspend(room, 'ben', session - 1);
      await rooms.resume(room, 'ben', session);
    }
    await rooms.close(room, 'anna');
    const feed: Feed = {
      ...rooms.engine.feed,
      async read(ask) {
        const page = await rooms.engine.feed.read(ask);
        return { ...page, events: page.events.filter(({ type }) => !/away|back/.test(type)) };
      },
    };
    const { clock } = rooms;
    await createRecorder(recorderOf(database, { engine: { feed }, clock })).record();
    expect(await findCall(database, room.ref)).toMatchObject({ reason: 'closed', complete: false });
  });

  test('a feed of a hundred streams is recorded, as on a Redis Cluster', async () => {
    const database = await harness.fresh();
    await using redis = await startClusterOfOne();
    await using redisStage = await startRedisHarness(redis.url);
    const clock = createHandClock();
    const rooms = new EngineHarness(await redisStage.make(settingsOf(9_000), clock), clock);
    for (let shard = 0; shard < SHARDS; shard += 1) {
      const created = await rooms.create('anna', { ref: refOf(shard), shard });
      if (!created.ok) return expect.unreachable();
      await rooms.close(created.room, 'anna');
    }
    await recordRooms(rooms, database);
    const { calls } = await listCalls(database, { limit: 200 });
    expect(calls).toHaveLength(SHARDS);
    expect(calls.every(({ complete, reason }) => complete && reason === 'closed')).toBe(true);
    // The recorder goes on at its last position.
    const last = await rooms.room(['ben'], { ref: refOf(SHARDS) });
    await recordRooms(rooms, database);
    expect(await findCall(database, last.ref)).toMatchObject({ hostId: 'ben', complete: true });
    expect(await readLost(database)).toEqual({ events: 0, signals: 0 });
  });

  test('events that the feed has dropped are counted, and their calls are incomplete', async () => {
    const database = await harness.fresh();
    const rooms = startRooms(10);
    const room = await rooms.room(['anna', 'ben']);
    await recordRooms(rooms, database);
    for (let times = 0; times < 20; times += 1) {
      await rooms.leave(room, 'ben');
      await rooms.join(room, 'ben');
    }
    const { lost } = await rooms.engine.feed.read({
      after: String((await database.rows('SELECT place FROM signalbox_feeds'))[0]?.['place']),
      limit: 1,
    });
    expect(lost).toBeGreaterThan(0);
    await recordRooms(rooms, database);
    expect(await readLost(database)).toEqual({ events: lost, signals: 0 });
    const call = await findCall(database, room.ref);
    expect(call).toMatchObject({ complete: false, peakMembers: 2, totalMembers: 2 });
    expect(call?.participants.filter(({ leftAt }) => leftAt === null)).toHaveLength(2);
    await rooms.close(room, 'anna');
    await recordRooms(rooms, database);
    expect((await findCall(database, room.ref))?.participants.every(({ leftAt }) => leftAt !== null)).toBe(true);
  });

  test('a feed that is read again from the beginning changes nothing', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const room = await rooms.room(['anna', 'ben']);
    await rooms.leave(room, 'ben');
    await recordRooms(rooms, database);
    const before = await listCalls(database, { limit: 10 });
    await recordAll(recorderOf(database, rooms, { feedName: 'by another name' }));
    await database.run('UPDATE signalbox_feeds SET place = ?', ['of another life']);
    await recordRooms(rooms, database);
    expect(await listCalls(database, { limit: 10 })).toEqual(before);
  });
}
