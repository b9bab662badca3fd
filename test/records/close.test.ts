/** Closing the records: the rest is written within a time limit, and nothing after it. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import type { Feed } from '../../src/engine/feed.ts';
import { createCallRecords } from '../../src/records/call-records.ts';
import { findCall, readLost } from '../../src/records/read.ts';
import { silentLog } from '../../src/support/log.ts';
import { systemRandom } from '../../src/support/random.ts';
import { POLICY } from '../room/fixtures.ts';
import { manualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/process.ts';
import { FEED, startRooms } from './harness.ts';

const recordsOf = (path: string, feed: Feed) =>
  createCallRecords({
    database: openDatabase(`sqlite:${path}`),
    feed,
    feedName: FEED,
    endsWithProcess: true,
    retentionMs: 0,
    maxAgeMs: POLICY.maxAgeMs,
    clock: manualClock(),
    random: systemRandom,
    log: silentLog,
  });

test('closing the records writes all remaining events and signals, also more than one page', async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/signalbox.db`;
  const rooms = startRooms();
  for (let number = 1; number <= 200; number += 1) {
    const room = await rooms.room(['anna', 'ben']);
    await rooms.close(room, 'anna');
  }
  const last = await rooms.room(['anna']);
  const records = recordsOf(path, rooms.engine.feed);
  records.countSignals(last.ref, 3);
  await records.close();
  const database = openDatabase(`sqlite:${path}`);
  expect(await findCall(database, last.ref)).toMatchObject({ reason: 'unknown', signals: 3 });
  expect(await readLost(database)).toEqual({ events: 0, signals: 0 });
  await database.close();
});

test('closed records stop reading a feed that never ends', async () => {
  await using folder = await temporaryFolder();
  const rooms = startRooms();
  await rooms.room(['anna']);
  const { events } = await rooms.engine.feed.read({ limit: 1 });
  let reads = 0;
  let resume: (() => void) | undefined;
  const records = recordsOf(`${folder.path}/signalbox.db`, {
    ...rooms.engine.feed,
    async read({ limit }) {
      reads += 1;
      // The third page takes longer than the time limit.
      if (reads === 3) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      return { events: Array.from({ length: limit }, () => events).flat(), position: `${reads}`, lost: 0 };
    },
  });
  await records.close();
  expect(reads).toBe(3);
  resume?.();
  // A recorder that goes on would have queried the file by now: its calls run in this process.
  for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toBe(3);
});
