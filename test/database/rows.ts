/** Statements on a table, for tests of databases. */
import type { Database } from '../../src/database/database.ts';

export const ADD = 'INSERT INTO signalbox_records (prefix, year, highest) VALUES (?, ?, ?)';
export const ALL = 'SELECT prefix, highest FROM signalbox_records ORDER BY prefix';

export const prefixes = async (database: Database): Promise<unknown[]> =>
  (await database.rows(ALL)).map((row) => row['prefix']);
