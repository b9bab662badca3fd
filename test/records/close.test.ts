/** What is recorded last: all that there is, or what there is time for, and nothing after that. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import type { Feed } from '../../src/engine/feed.ts';
import { createCallRecords } from '../../src/records/call-records.ts';
import { findCall, readLost } from '../../src/records/read.ts';
import { silentLog } from '../../src/support/log.ts';
import { systemRandom } from '../../src/support/random.ts';
import { POLICY } from '../engine/stage.ts';
import { handClock } from '../support/hand-clock.ts';
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
    clock: handClock(),
    random: systemRandom,
    log: silentLog,
  });

test('more than a page, and signals, are all there when the records are closed', async () => {
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

test('a feed that does not come to its end is not read any further once they are closed', async () => {
  await using folder = await temporaryFolder();
  const rooms = startRooms();
  await rooms.room(['anna']);
  const { events } = await rooms.engine.feed.read({ limit: 1 });
  let reads = 0;
  let goOn: (() => void) | undefined;
  const records = recordsOf(`${folder.path}/signalbox.db`, {
    ...rooms.engine.feed,
    async read({ limit }) {
      reads += 1;
      // The third takes longer than there is time for.
      if (reads === 3) {
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
      }
      return { events: Array.from({ length: limit }, () => events).flat(), position: `${reads}`, lost: 0 };
    },
  });
  await records.close();
  expect(reads).toBe(3);
  goOn?.();
  // Whatever goes on asks the file, and that is of this process: by then it has.
  for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(reads).toBe(3);
});
