/** What every database promises to those who use it. */
import { expect, test } from 'vitest';
import { DatabaseMisconfigured } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { openLedger } from '../../src/reference/from-options.ts';
import { LedgerMisconfigured } from '../../src/reference/ledger.ts';
import { connections } from './connections.ts';
import { DATABASE_HOSTS } from './database-hosts.ts';
import { onEveryDatabase } from './harness.ts';
import { migration } from './migration.ts';
import { ADD } from './rows.ts';
import { statements } from './statements.ts';

onEveryDatabase((harness) => {
  statements(harness);
  connections(harness);
  migration(harness);
});

test.each(['oracle://u:hunter2@x', 'sqlite:', 'postgres://'])('a URL that is none is not repeated: %s', (url) => {
  expect(() => openDatabase(url)).toThrow(DatabaseMisconfigured);
  expect(() => openDatabase(url)).not.toThrow(/hunter2/);
  expect(() => openLedger(url)).toThrow(LedgerMisconfigured);
});

test('tables of an earlier version are left as they are, and get what is missing', async () => {
  await using stage = await (DATABASE_HOSTS[0] ?? expect.unreachable()).start();
  const url = await stage.empty();
  const first = openDatabase(url);
  await first.run(ADD, ['A', 2026, 7]);
  for (const table of ['calls', 'participants', 'signals', 'feeds']) await first.run(`DROP TABLE signalbox_${table}`);
  await first.run('DELETE FROM signalbox_migrations WHERE version > 1');
  await first.close();
  const second = openDatabase(url);
  expect(await second.rows('SELECT highest FROM signalbox_records')).toEqual([{ highest: 7 }]);
  expect(await second.rows('SELECT ref FROM signalbox_calls')).toEqual([]);
  await second.close();
});

test('who waits for the lock of a file keeps nobody else waiting', async () => {
  await using stage = await (DATABASE_HOSTS[0] ?? expect.unreachable()).start();
  const url = await stage.empty();
  const database = openDatabase(url);
  await database.open();
  const thaw = await stage.freeze(url);
  const written = database.run(ADD, ['A', 2026, 1]);
  // By the next turn of this process it has been refused the lock. Which this very process gives back: would it stand
  // still, nobody could.
  await new Promise((resolve) => setImmediate(resolve));
  thaw();
  expect(await written).toBe(1);
  await database.close();
});
