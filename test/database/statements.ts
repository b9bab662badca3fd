/** Contract of a database about statements and transactions. */
import { expect, test } from 'vitest';
import { DatabaseUnavailable, readNumber } from '../../src/database/database.ts';
import { shareDatabase } from '../../src/database/shared-database.ts';
import type { DatabaseHarness } from './harness.ts';
import { ADD, ALL, prefixes } from './rows.ts';

export function statements(harness: DatabaseHarness): void {
  test('a transaction that fails leaves nothing behind, and the next one succeeds', async () => {
    const database = await harness.fresh();
    const failing = database.transaction(async (queries) => {
      await queries.run(ADD, ['A', 2026, 1]);
      throw new Error('no further');
    });
    await expect(failing).rejects.toThrow('no further');
    await database.transaction(async (queries) => void (await queries.run(ADD, ['B', 2026, 2 ** 40])));
    const rows = await database.rows(ALL);
    expect(rows.map((row) => [row['prefix'], readNumber(row['highest'])])).toEqual([['B', 2 ** 40]]);
  });

  test('a statement beside a transaction is not part of it', async () => {
    const database = await harness.fresh();
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

  test('a statement returns the number of matched rows, also of unchanged ones', async () => {
    const database = await harness.fresh();
    const update = 'UPDATE signalbox_records SET highest = ? WHERE prefix = ?';
    expect(await database.run(update, [5, 'A'])).toBe(0);
    expect(await database.run(ADD, ['A', 2026, 5])).toBe(1);
    expect(await database.run(update, [6, 'A'])).toBe(1);
    expect(await database.run(update, [6, 'A'])).toBe(1);
  });

  test('a refused statement is distinguished from a database that does not answer', async () => {
    const url = await harness.host.empty();
    const database = harness.databaseAt(url);
    await database.run(ADD, ['A', 2026, 1]);
    for (const refused of [
      () => database.run(ADD, ['A', 2026, 1]),
      () => database.run(ADD, ['B', 2026, null]),
      () => database.rows('SELECT nothing FROM signalbox_records'),
      () => database.transaction((queries) => queries.run(ADD, ['A', 2026, 1])),
    ]) {
      await expect(refused()).rejects.not.toBeInstanceOf(DatabaseUnavailable);
    }
    const thaw = await harness.host.freeze(url);
    await expect(database.run(ADD, ['B', 2026, 1])).rejects.toThrow(DatabaseUnavailable);
    await expect(database.transaction(() => Promise.resolve())).rejects.toThrow(DatabaseUnavailable);
    thaw();
  });

  test('users share a database until the last one closes it, and a closed handle is refused', async () => {
    const share = shareDatabase(await harness.fresh());
    const [one, two] = [share(), share()];
    await one.run(ADD, ['A', 2026, 1]);
    await one.close();
    await one.close();
    await expect(one.rows(ALL)).rejects.toThrow(DatabaseUnavailable);
    expect(await prefixes(two)).toEqual(['A']);
    await two.close();
    await expect(two.rows(ALL)).rejects.toThrow(DatabaseUnavailable);
  });
}
