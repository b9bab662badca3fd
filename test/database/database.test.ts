/** The contract of every database. */
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

test.each(['oracle://u:hunter2@x', 'sqlite:', 'postgres://'])(
  'the error of a malformed URL does not repeat it: %s',
  (url) => {
    expect(() => openDatabase(url)).toThrow(DatabaseMisconfigured);
    expect(() => openDatabase(url)).not.toThrow(/hunter2/);
    expect(() => openLedger(url)).toThrow(LedgerMisconfigured);
  },
);

test('tables of an earlier version are kept, and missing ones are created', async () => {
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

test('waiting for the lock of a file does not block the process', async () => {
  await using stage = await (DATABASE_HOSTS[0] ?? expect.unreachable()).start();
  const url = await stage.empty();
  const database = openDatabase(url);
  await database.open();
  const thaw = await stage.freeze(url);
  const written = database.run(ADD, ['A', 2026, 1]);
  // By the next turn the lock was refused. This same process has it: if it blocked, the lock could not be released.
  await new Promise((resolve) => setImmediate(resolve));
  thaw();
  expect(await written).toBe(1);
  await database.close();
});
