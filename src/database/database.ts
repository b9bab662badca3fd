/** The SQL database of a server: the port of its drivers, and its laws. */

/** What a statement is given: never booleans or instants of a driver's own kind, which each of them writes otherwise. */
export type Value = string | number | null;
/** By column. Drivers give large numbers as text: see {@link readNumber}. */
export type Row = Readonly<Record<string, unknown>>;
export type Dialect = 'sqlite' | 'postgres' | 'mysql';

/** Statements say `?` where a value belongs, in every dialect, and nowhere else. */
export interface Queries {
  rows(sql: string, values?: readonly Value[]): Promise<Row[]>;
  /** @returns how many rows it has written, or found to be written so already; 0 only when there was none. */
  run(sql: string, values?: readonly Value[]): Promise<number>;
}

/**
 * Laws:
 * - The tables are there before the first statement, whoever asks; several that make them at once do no harm.
 * - What a transaction has written is on the disk before it is answered, or, when it fails, nowhere. A failure may also
 *   mean that only the answer was lost.
 * - Every promise settles within some seconds, whatever happens to the database.
 * - A statement that the database refuses, such as one whose value does not fit, rejects with what the driver says of it.
 *   Whatever else goes wrong with a database rejects with {@link DatabaseUnavailable}.
 * - A connection that is lost fails whoever uses it at that time, and nobody else.
 * - After `close` nothing is begun: every call is refused, and no connection is left.
 */
export interface Database extends Queries {
  /** For people: the kind of database and where. Without credentials. */
  readonly name: string;
  readonly dialect: Dialect;
  /** Connects, and makes the tables where they are missing. Others call it by themselves. */
  open(): Promise<void>;
  /** The database's clock: milliseconds since 1970. */
  now(): Promise<number>;
  /**
   * All of it or nothing.
   *
   * @param work MUST await nothing but its own statements: in SQLite, everybody else waits for it.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Thrown when the database does not answer, or cannot do now what it is asked for. The same may succeed later. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/** Thrown when the database can never be used as it is configured: no driver, no such scheme. */
export class DatabaseMisconfigured extends Error {
  override readonly name = 'DatabaseMisconfigured';
}

/** A number that a database has answered; drivers give large ones as text. */
export function readNumber(value: unknown): number {
  const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isSafeInteger(number))
    throw new RangeError('the database holds no such number');
  return number;
}
