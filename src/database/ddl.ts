/** DDL statements for one table definition in each dialect. */
import type { Dialect } from './database.ts';

export interface Table {
  readonly name: string;
  /** Each with its type: `ref TEXT(64) NOT NULL`, where `TEXT(n)` is text with binary collation. */
  readonly columns: readonly string[];
  readonly key: readonly string[];
  /** Columns of each index. In the database an index has the table's name as prefix. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>;
}

/** InnoDB for transactions; binary collation, because ids differ by case and the default collations equate `a` and `A`. */
const MYSQL_TABLE_OPTIONS = 'ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

/** @returns idempotent statements */
export function createTable(table: Table, dialect: Dialect): string[] {
  const { name, columns, key } = table;
  const entries = indexesOf(table);
  // MySQL has no CREATE INDEX IF NOT EXISTS; the other two have no index clause in CREATE TABLE.
  const inside = dialect === 'mysql' ? entries.map(({ index, of }) => `KEY ${index} (${of})`) : [];
  const parts = [...columns.map((column) => columnType(column, dialect)), `PRIMARY KEY (${key.join(', ')})`, ...inside];
  const create = `CREATE TABLE IF NOT EXISTS ${name} (${parts.join(', ')})`;
  if (dialect === 'mysql') return [`${create} ${MYSQL_TABLE_OPTIONS}`];
  return [create, ...entries.map(({ index, of }) => `CREATE INDEX IF NOT EXISTS ${index} ON ${name} (${of})`)];
}

/**
 * Renames a table with its indexes. SQLite cannot rename an index and builds it anew.
 *
 * @param from the former name; its columns and indexes are those of `to`.
 * @returns idempotent statements
 */
export function renameTable(from: string, to: Table, dialect: Dialect): string[] {
  const indexes = indexesOf(to).map(({ index, of }) => ({ index, of, former: index.replace(to.name, from) }));
  if (dialect === 'mysql') {
    const clauses = [`RENAME TO ${to.name}`, ...indexes.map((one) => `RENAME INDEX ${one.former} TO ${one.index}`)];
    return ifTableOfMysql(from, `ALTER TABLE ${from} ${clauses.join(', ')}`);
  }
  // Inside a transaction: nothing of it is ever done twice.
  const rename = `ALTER TABLE ${from} RENAME TO ${to.name}`;
  if (dialect === 'postgres') {
    const renamed = [{ former: `${from}_pkey`, index: `${to.name}_pkey` }, ...indexes];
    return [rename, ...renamed.map(({ former, index }) => `ALTER INDEX ${former} RENAME TO ${index}`)];
  }
  return [rename, ...indexes.map(({ former }) => `DROP INDEX ${former}`), ...createTable(to, dialect).slice(1)];
}

/** MySQL commits DDL at once, so the statement may have been executed before; it has no ALTER TABLE IF EXISTS. */
const ifTableOfMysql = (table: string, statement: string): string[] => [
  `SET @statement = IF(EXISTS (SELECT 1 FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name = '${table}'), '${statement}', 'DO 0')`,
  'PREPARE migration FROM @statement',
  'EXECUTE migration',
  'DEALLOCATE PREPARE migration',
];

const indexesOf = ({ name, indexes = {} }: Table): { readonly index: string; readonly of: string }[] =>
  Object.entries(indexes).map(([index, of]) => ({ index: `${name}_${index}`, of: of.join(', ') }));

/** Binary collation everywhere: a PostgreSQL database may sort by language, and all dialects must give the same order. */
const columnType = (column: string, dialect: Dialect): string =>
  column.replace(/ TEXT(\(\d+\))/, dialect === 'postgres' ? ' VARCHAR$1 COLLATE "C"' : ' VARCHAR$1');
