/** Migrations of a database that an earlier version of the server has used. */
import { expect, test } from 'vitest';
import type { Database, Dialect } from '../../src/database/database.ts';
import { createTable, type Table } from '../../src/database/ddl.ts';
import { migrationsAfter } from '../../src/database/migrations.ts';
import type { DatabaseHarness } from './harness.ts';

const NEW = 'signalbox_participants';
const FORMER = 'signalbox_sessions';
const COLUMNS = 'ref, seq, user_id, joined_at, called_at';

/** The table of version 2. */
const SESSIONS: Table = {
  name: FORMER,
  columns: [
    'ref TEXT(64) NOT NULL',
    'seq INTEGER NOT NULL',
    'user_id TEXT(64) NOT NULL',
    'name TEXT(255)',
    'joined_at BIGINT NOT NULL',
    'left_at BIGINT',
    'reason TEXT(32)',
    'media_type TEXT(64)',
    'called_at BIGINT NOT NULL',
  ],
  key: ['ref', 'seq'],
  indexes: { by_user: ['user_id', 'ref'], by_call: ['user_id', 'called_at', 'ref'] },
};

const INDEXES: Readonly<Record<Dialect, string>> = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = '${NEW}' AND sql IS NOT NULL ORDER BY name`,
  postgres: `SELECT indexname AS name FROM pg_indexes WHERE tablename = '${NEW}' ORDER BY indexname`,
  mysql: `SELECT DISTINCT index_name AS name FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = '${NEW}' ORDER BY index_name`,
};

/** Turns a new database into one of version 2, with one participant. */
async function toVersion2(database: Database): Promise<void> {
  await database.run(`DROP TABLE ${NEW}`);
  for (const statement of createTable(SESSIONS, database.dialect)) await database.run(statement);
  await database.run(`INSERT INTO ${FORMER} (${COLUMNS}) VALUES ('ROM1', 1, 'anna', 1, 1)`);
  await database.run('UPDATE signalbox_migrations SET version = 2 WHERE version = 3');
}

const indexesOf = async (database: Database): Promise<string[]> =>
  (await database.rows(INDEXES[database.dialect])).map((row) => String(row['name']));

export function migration(harness: DatabaseHarness): void {
  test('the participants of version 2 are renamed with their indexes and keep their rows', async () => {
    const url = await harness.host.empty();
    const first = harness.databaseAt(url);
    await first.open();
    const indexes = await indexesOf(first);
    await toVersion2(first);
    const second = harness.databaseAt(url);
    expect(await second.rows(`SELECT user_id FROM ${NEW}`)).toEqual([{ user_id: 'anna' }]);
    expect(await indexesOf(second)).toEqual(indexes);
    expect(indexes).toEqual(expect.arrayContaining([`${NEW}_by_call`, `${NEW}_by_user`]));
    await expect(second.rows(`SELECT user_id FROM ${FORMER}`)).rejects.toThrow();
    const versions = await second.rows('SELECT version FROM signalbox_migrations ORDER BY version');
    expect(versions.map((row) => Number(row['version']))).toEqual([1, 2, 3]);
  });

  test('a migration that was applied but not noted is applied again without harm', async () => {
    const url = await harness.host.empty();
    const first = harness.databaseAt(url);
    await first.open();
    // Only MySQL commits a table at once; elsewhere a migration and its note are one transaction.
    if (first.dialect !== 'mysql') return;
    await toVersion2(first);
    for (const { statements } of migrationsAfter(2, 'mysql')) {
      await first.transaction(async (queries) => {
        for (const statement of statements) await queries.run(statement);
      });
    }
    const second = harness.databaseAt(url);
    expect(await second.rows(`SELECT user_id FROM ${NEW}`)).toEqual([{ user_id: 'anna' }]);
  });
}
