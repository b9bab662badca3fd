/** Port of the SQL databases, and its contract. */

/** Value of a placeholder. No booleans and dates: each driver writes them differently. */
export type Value = string | number | null;
/** Values by column. Drivers return large numbers as text: see {@link readNumber}. */
export type Row = Readonly<Record<string, unknown>>;
export type Dialect = 'sqlite' | 'postgres' | 'mysql';

/** In every dialect, `?` is the placeholder of a value, and is used for nothing else. */
export interface Queries {
  rows(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** @returns the number of matched rows, also of those that had the new values already. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
}

/**
 * Contract:
 * - Missing tables are created before the first statement, also when several nodes do so at once.
 * - A transaction is on disk before its promise resolves. When it rejects, nothing was written, or only the answer was
 *   lost.
 * - Every promise settles within some seconds, whatever happens to the database.
 * - A statement that the database refuses, for instance because a value does not fit, rejects with the driver's error. Any
 *   other failure rejects with {@link DatabaseUnavailable}.
 * - A lost connection fails only the calls that use it at that time.
 * - After `close` every call is refused, and no connection is left.
 */
export interface Database extends Queries {
  /** Kind and location of the database, without credentials. For people. */
  readonly name: string;
  readonly dialect: Dialect;
  /** Connects and creates missing tables. The other methods do it when needed. */
  open(): Promise<void>;
  /** The database's clock: milliseconds since 1970. */
  now(): Promise<number>;
  /**
   * Commits all statements of `work`, or none.
   *
   * @param work MUST await nothing but its own statements: in SQLite, all other statements wait for it.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Thrown when the database does not answer, or cannot execute a statement now. It may succeed later. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/** Thrown when the configuration can never work: no driver, or an unknown scheme. */
export class DatabaseMisconfigured extends Error {
  override readonly name = 'DatabaseMisconfigured';
}

/** Reads a number of a row; drivers return large ones as text. */
export function readNumber(value: unknown): number {
  const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number))
    throw new RangeError('the database holds no such number');
  return number;
}
