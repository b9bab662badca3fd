/** Buffer of signal counts while the database is away: bounded, with a count of what exceeds it. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { createSignalCounts } from '../../src/records/signal-counts.ts';
import { silentLog } from '../../src/support/log.ts';
import { systemRandom } from '../../src/support/random.ts';
import { temporaryFolder } from '../support/process.ts';

test('signals of rooms beyond the bound are counted as lost; buffered rooms go on counting', async () => {
  await using folder = await temporaryFolder();
  const database = openDatabase(`sqlite:${folder.path}/signalbox.db`);
  const counts = createSignalCounts({ database, clock: Date, random: systemRandom, log: silentLog, maxRooms: 3 });
  for (const ref of ['A', 'B', 'C', 'D', 'E', 'A']) counts.count(ref, 2);
  while (await counts.write());
  expect(await database.rows('SELECT ref, signals FROM signalbox_signals ORDER BY ref')).toEqual([
    { ref: 'A', signals: 4 },
    { ref: 'B', signals: 2 },
    { ref: 'C', signals: 2 },
  ]);
  expect(await database.rows('SELECT lost_signals FROM signalbox_feeds')).toEqual([{ lost_signals: 4 }]);
  counts.count('D', 1);
  await counts.write();
  expect(await database.rows("SELECT signals FROM signalbox_signals WHERE ref = 'D'")).toEqual([{ signals: 1 }]);
  expect(await database.rows('SELECT lost_signals FROM signalbox_feeds')).toEqual([{ lost_signals: 4 }]);
  await database.close();
});

test('more rooms than fit into one batch are written in several', async () => {
  await using folder = await temporaryFolder();
  const database = openDatabase(`sqlite:${folder.path}/signalbox.db`);
  const counts = createSignalCounts({ database, clock: Date, random: systemRandom, log: silentLog });
  for (let number = 0; number < 1_000; number += 1) counts.count(`R${number}`, 1);
  while (await counts.write());
  expect(await database.rows('SELECT SUM(signals) AS signals FROM signalbox_signals')).toEqual([{ signals: 1_000 }]);
  await database.close();
});
