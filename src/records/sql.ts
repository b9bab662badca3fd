/** Statements that are written one way for MySQL and another for the others, or for many rows at once. */
import type { Dialect, Queries, Value } from '../database/database.ts';

/** Placeholders of one row, or of a list. */
export const placeholders = (count: number): string => `(${Array.from({ length: count }, () => '?').join(', ')})`;

export interface Upsert {
  readonly table: string;
  readonly columns: string;
  /** How many of the columns, from the first on, are the key. */
  readonly keyed: number;
  /** Columns whose number is added to the one that is there; the others are replaced. */
  readonly added?: readonly string[];
}

/** So many rows in one statement: more would make a text that is long to read. */
const MAX_ROWS = 100;

/** Writes rows, whether they are there or not. No two of them may have the same key. */
export async function upsert(
  queries: Queries,
  dialect: Dialect,
  { table, columns, keyed, added = [] }: Upsert,
  rows: readonly (readonly Value[])[],
): Promise<void> {
  const names = columns.split(', ');
  const given = (name: string) => (dialect === 'mysql' ? `VALUES(${name})` : `excluded.${name}`);
  const kept = (name: string) => (dialect === 'mysql' ? name : `kept.${name}`);
  const sets = names
    .slice(keyed)
    .map((name) => `${name} = ${added.includes(name) ? `${kept(name)} + ${given(name)}` : given(name)}`)
    .join(', ');
  const [as, otherwise] =
    dialect === 'mysql'
      ? ['', 'ON DUPLICATE KEY UPDATE']
      : [' AS kept', `ON CONFLICT (${names.slice(0, keyed).join(', ')}) DO UPDATE SET`];
  for (let done = 0; done < rows.length; done += MAX_ROWS) {
    const some = rows.slice(done, done + MAX_ROWS);
    const lists = some.map(() => placeholders(names.length)).join(', ');
    await queries.run(`INSERT INTO ${table}${as} (${columns}) VALUES ${lists} ${otherwise} ${sets}`, some.flat());
  }
}

/** Writes a row unless it is there. */
export const insertOnce = (dialect: Dialect, table: string, columns: string): string =>
  dialect === 'mysql'
    ? `INSERT IGNORE INTO ${table} (${columns}) VALUES ${placeholders(columns.split(', ').length)}`
    : `INSERT INTO ${table} (${columns}) VALUES ${placeholders(columns.split(', ').length)} ON CONFLICT DO NOTHING`;
