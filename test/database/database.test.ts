/** What every database promises to those who use it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, DatabaseMisconfigured, readNumber } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { shareDatabase } from '../../src/database/shared.ts';
import { LedgerMisconfigured } from '../../src/reference/ledger.ts';
import { openLedger } from '../../src/reference/open-ledger.ts';
import { type LedgerStage, STAGES } from '../reference/ledger-stage.ts';

const ADD = 'INSERT INTO signalbox_records (prefix, year, highest) VALUES (?, ?, ?)';
const ALL = 'SELECT prefix, highest FROM signalbox_records ORDER BY prefix';

describe.each(STAGES)('$name', ({ start }) => {
  let stage: LedgerStage;
  const open: Database[] = [];
  const databaseAt = (url: string): Database => {
    const database = openDatabase(url);
    open.push(database);
    return database;
  };
  const prefixes = async (database: Database) => (await database.rows(ALL)).map((row) => row['prefix']);

  beforeAll(async () => {
    stage = await start();
  });
  afterAll(async () => {
    await Promise.all(open.map((database) => database.close()));
    await stage[Symbol.asyncDispose]();
  });

  test('a transaction that fails leaves nothing behind, and the next goes on', async () => {
    const database = databaseAt(await stage.empty());
    const failing = database.transaction(async (queries) => {
      await queries.run(ADD, ['A', 2026, 1]);
      throw new Error('no further');
    });
    await expect(failing).rejects.toThrow('no further');
    await database.transaction(async (queries) => void (await queries.run(ADD, ['B', 2026, 2 ** 40])));
    const rows = await database.rows(ALL);
    expect(rows.map((row) => [row['prefix'], readNumber(row['highest'])])).toEqual([['B', 2 ** 40]]);
  });

  test('what is asked for beside a transaction does not get into it', async () => {
    const database = databaseAt(await stage.empty());
    await database.open();
    const failing = database.transaction(async (queries) => {
      await queries.run(ADD, ['A', 2026, 1]);
      await queries.rows(ALL);
      throw new Error('no further');
    });
    const beside = [database.run(ADD, ['B', 2026, 1]), database.run(ADD, ['C', 2026, 1])];
    await expect(failing).rejects.toThrow('no further');
    await Promise.all(beside);
    expect(await prefixes(database)).toEqual(['B', 'C']);
  });

  test('it says how many rows were written, or stood so already', async () => {
    const database = databaseAt(await stage.empty());
    const update = 'UPDATE signalbox_records SET highest = ? WHERE prefix = ?';
    expect(await database.run(update, [5, 'A'])).toBe(0);
    expect(await database.run(ADD, ['A', 2026, 5])).toBe(1);
    expect(await database.run(update, [6, 'A'])).toBe(1);
    expect(await database.run(update, [6, 'A'])).toBe(1);
  });

  test('its users share it, and the last one closes it', async () => {
    const share = shareDatabase(databaseAt(await stage.empty()));
    const [one, two] = [share(), share()];
    await one.run(ADD, ['A', 2026, 1]);
    await one.close();
    await one.close();
    expect(await prefixes(two)).toEqual(['A']);
    await two.close();
  });
});

test.each(['oracle://u:hunter2@x', 'sqlite:', 'postgres://'])('a URL that is none is not repeated: %s', (url) => {
  expect(() => openDatabase(url)).toThrow(DatabaseMisconfigured);
  expect(() => openDatabase(url)).not.toThrow(/hunter2/);
  expect(() => openLedger(url)).toThrow(LedgerMisconfigured);
});

test('tables of an earlier version are left as they are, and get what is missing', async () => {
  await using stage = await (STAGES[0] ?? expect.unreachable()).start();
  const url = await stage.empty();
  const first = openDatabase(url);
  await first.run(ADD, ['A', 2026, 7]);
  for (const table of ['calls', 'sessions', 'signals', 'feeds']) await first.run(`DROP TABLE signalbox_${table}`);
  await first.run('DELETE FROM signalbox_migrations WHERE version > 1');
  await first.close();
  const second = openDatabase(url);
  expect(await second.rows('SELECT highest FROM signalbox_records')).toEqual([{ highest: 7 }]);
  expect(await second.rows('SELECT ref FROM signalbox_calls')).toEqual([]);
  await second.close();
});

test('who waits for the lock of a file keeps nobody else waiting', async () => {
  await using stage = await (STAGES[0] ?? expect.unreachable()).start();
  const url = await stage.empty();
  const database = openDatabase(url);
  await database.open();
  const thaw = await stage.freeze(url);
  const written = database.run(ADD, ['A', 2026, 1]);
  // The lock is given back by this very process: would it stand still, nobody could.
  for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  thaw();
  expect(await written).toBe(1);
  await database.close();
});
