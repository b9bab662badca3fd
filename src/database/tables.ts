/** A table, written in each dialect. */
import type { Dialect } from './database.ts';

export interface Table {
  readonly name: string;
  /** Each with its type: `ref TEXT(64) NOT NULL`, where `TEXT(n)` is text that is compared letter by letter. */
  readonly columns: readonly string[];
  readonly key: readonly string[];
  /** Columns by the name of their index, which is its table's name and this one. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>;
}

/** Another engine may know no transactions. Ids differ by case, and in its usual collations `a` is `A`. */
const TABLE_OF_MYSQL = 'ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

/** @returns statements that do no harm when they are done a second time */
export function createTable({ name, columns, key, indexes = {} }: Table, dialect: Dialect): string[] {
  const entries = Object.entries(indexes).map(([index, of]) => ({ index: `${name}_${index}`, of: of.join(', ') }));
  // MySQL has no CREATE INDEX IF NOT EXISTS; the others know indexes by a statement of their own only.
  const inside = dialect === 'mysql' ? entries.map(({ index, of }) => `KEY ${index} (${of})`) : [];
  const parts = [...columns.map((column) => typed(column, dialect)), `PRIMARY KEY (${key.join(', ')})`, ...inside];
  const table = `CREATE TABLE IF NOT EXISTS ${name} (${parts.join(', ')})`;
  if (dialect === 'mysql') return [`${table} ${TABLE_OF_MYSQL}`];
  return [table, ...entries.map(({ index, of }) => `CREATE INDEX IF NOT EXISTS ${index} ON ${name} (${of})`)];
}

/** In PostgreSQL a database has a collation, which may sort as people do: all of them are to give the same order. */
const typed = (column: string, dialect: Dialect): string =>
  column.replace(/ TEXT(\(\d+\))/, dialect === 'postgres' ? ' VARCHAR$1 COLLATE "C"' : ' VARCHAR$1');
