/** SQL statements that differ between dialects, or are written for many rows at once. */
import type { Dialect, Queries, Value } from '../database/database.ts';

/** Placeholders of one row, or of a list. */
export const placeholders = (count: number): string => `(${Array.from({ length: count }, () => '?').join(', ')})`;

export interface Upsert {
  readonly table: string;
  readonly columns: string;
  /** Number of leading columns that are the key. */
  readonly keyed: number;
  /** Columns whose value is added to an existing one; the others are replaced. */
  readonly added?: readonly string[];
}

/** Rows per statement: bounds the length of its text. */
const MAX_ROWS = 100;

/** Inserts or updates rows. No two of them may have the same key. */
export async function upsert(
  queries: Queries,
  dialect: Dialect,
  target: Upsert,
  rows: readonly (readonly Value[])[],
): Promise<void> {
  const { table, columns } = target;
  const width = columns.split(', ').length;
  const { alias, onConflict } = conflictClauses(target, dialect);
  for (let done = 0; done < rows.length; done += MAX_ROWS) {
    const some = rows.slice(done, done + MAX_ROWS);
    const lists = some.map(() => placeholders(width)).join(', ');
    await queries.run(`INSERT INTO ${table}${alias} (${columns}) VALUES ${lists} ${onConflict}`, some.flat());
  }
}

/** Inserts a row unless its key exists. */
export const insertOnce = (dialect: Dialect, table: string, columns: string): string =>
  dialect === 'mysql'
    ? `INSERT IGNORE INTO ${table} (${columns}) VALUES ${placeholders(columns.split(', ').length)}`
    : `INSERT INTO ${table} (${columns}) VALUES ${placeholders(columns.split(', ').length)} ON CONFLICT DO NOTHING`;

function conflictClauses({ columns, keyed, added = [] }: Upsert, dialect: Dialect) {
  const isMysql = dialect === 'mysql';
  const names = columns.split(', ');
  const inserted = (name: string) => (isMysql ? `VALUES(${name})` : `excluded.${name}`);
  const existing = (name: string) => (isMysql ? name : `existing.${name}`);
  const sets = names
    .slice(keyed)
    .map((name) => `${name} = ${added.includes(name) ? `${existing(name)} + ${inserted(name)}` : inserted(name)}`)
    .join(', ');
  const key = names.slice(0, keyed).join(', ');
  return isMysql
    ? { alias: '', onConflict: `ON DUPLICATE KEY UPDATE ${sets}` }
    : { alias: ' AS existing', onConflict: `ON CONFLICT (${key}) DO UPDATE SET ${sets}` };
}
