/** Contract of a database about connections: lost ones, and none left after closing. */
import { expect, test, vi } from 'vitest';
import { type Database, DatabaseUnavailable } from '../../src/database/database.ts';
import type { DatabaseHarness } from './harness.ts';
import { ADD, ALL, prefixes } from './rows.ts';

export function connections(harness: DatabaseHarness): void {
  const leavesNone = (url: string) => vi.waitFor(async () => expect(await harness.host.connections(url)).toBe(0));

  test('a connection that is lost in the middle of a transaction fails only that transaction', async () => {
    const url = await harness.host.empty();
    const database = harness.databaseAt(url);
    await database.open();
    const { server } = harness.host;
    const cut = database.transaction(async (queries) => {
      await queries.run(ADD, ['A', 2026, 1]);
      await harness.host.cut(url);
      // No statement is under way at the instant of the loss.
      if (server !== undefined) await leavesNone(url);
      await queries.run(ADD, ['B', 2026, 1]);
    });
    if (server === undefined) await cut;
    else await expect(cut).rejects.toThrow(DatabaseUnavailable);
    await database.transaction((queries) => queries.run(ADD, ['C', 2026, 1]));
    expect(await prefixes(database)).toEqual(server === undefined ? ['A', 'B', 'C'] : ['C']);
  });

  test('an idle connection that is lost is replaced unnoticed', async () => {
    const url = await harness.host.empty();
    const database = harness.databaseAt(url);
    await database.run(ADD, ['A', 2026, 1]);
    await harness.host.cut(url);
    // A call before the loss is known may fail.
    await vi.waitFor(async () => expect(await prefixes(database)).toEqual(['A']));
  });

  test('concurrent first calls leave no connection after closing', async () => {
    const url = await harness.host.empty();
    const database = harness.databaseAt(url);
    await Promise.all([
      database.now(),
      database.run(ADD, ['A', 2026, 1]),
      database.rows(ALL),
      database.transaction((queries) => queries.run(ADD, ['B', 2026, 1])),
      database.now(),
    ]);
    expect(await harness.host.connections(url)).toBeGreaterThan(0);
    await database.close();
    await leavesNone(url);
  });

  test('a database closed in the middle of a transaction refuses later calls and leaves no connection', async () => {
    const url = await harness.host.empty();
    const database = harness.databaseAt(url);
    await database.open();
    let closing: Promise<void> | undefined;
    const under = database.transaction(async (queries) => {
      await queries.run(ADD, ['A', 2026, 1]);
      closing = database.close();
      await queries.rows(ALL);
    });
    const beside = database.run(ADD, ['B', 2026, 1]);
    // They may be executed or not, but they must settle.
    await Promise.allSettled([under, beside]);
    await closing;
    for (const ask of everything) await expect(ask(database)).rejects.toThrow(DatabaseUnavailable);
    await leavesNone(url);
    await database.close();
  });

  test('a database closed while it opens settles waiting calls and leaves no connection', async () => {
    const url = await harness.host.empty();
    const database = harness.databaseAt(url);
    const first = Promise.allSettled([database.now(), database.run(ADD, ['A', 2026, 1]), database.rows(ALL)]);
    await database.close();
    await first;
    await leavesNone(url);
  });

  test('a database closed before its first use refuses every call and never connects', async () => {
    const url = await harness.host.empty();
    const database = harness.databaseAt(url);
    await database.close();
    for (const ask of everything) await expect(ask(database)).rejects.toThrow(DatabaseUnavailable);
    expect(await harness.host.connections(url)).toBe(0);
  });
}

const everything: readonly ((database: Database) => Promise<unknown>)[] = [
  (database) => database.open(),
  (database) => database.now(),
  (database) => database.rows(ALL),
  (database) => database.run(ADD, ['Z', 2026, 1]),
  (database) => database.transaction((queries) => queries.rows(ALL)),
];
