/** The durable seed of the numbers: the port of the SQL databases, and its laws. */

export interface LeaseRequest {
  /** Whose numbers: the prefix and the year that every reference of them will carry. */
  readonly prefix: string;
  readonly year: number;
  /** How many. */
  readonly step: number;
  /** A number that is known to be in use: the lease begins after it, whatever the database believes. */
  readonly floor: number;
}

export interface Lease {
  readonly first: number;
  readonly last: number;
  /** Where the seed stood before. */
  readonly seed: number;
  /**
   * Where it had to stand at least: the greater of the ask's floor and the highest reference among the records. A lesser
   * seed means that the database has forgotten leases: it was restored from a backup, or is another one.
   */
  readonly floor: number;
}

export interface HighWaterMark {
  readonly prefix: string;
  readonly year: number;
  readonly sequence: number;
}

/**
 * Laws:
 * - A lease is durable before it is answered, and no two leases of one prefix and year have a number in common, whoever
 *   asks, in however many processes.
 * - A lease whose answer is lost is lost with it. Nobody asks for the same numbers again.
 * - Every promise settles within some seconds, whatever happens to the database.
 */
export interface Ledger {
  /** For people: the kind of database and where. Without credentials. */
  readonly name: string;
  /** Connects, and makes the tables where they are missing; several at once do no harm. Others call it by themselves. */
  open(): Promise<void>;
  /** The database's clock: milliseconds since 1970. */
  now(): Promise<number>;
  lease(ask: LeaseRequest): Promise<Lease>;
  /** Remembers that a record carries this reference, so that a seed that falls behind it is noticed. */
  record(marks: readonly HighWaterMark[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * How far a seed that has fallen behind jumps past what is known to be in use. Other processes may hold numbers beyond
 * that, leased from the database as it was before.
 */
export const LEAP = 1_000_000;

/** Largest block of a lease. At a higher request rate a shorter outage is bridged, but no restart wastes more than this. */
export const MAX_BLOCK = 10_000_000;

/** Thrown when the database can never be used as it is configured: no driver, no such scheme. */
export { DatabaseMisconfigured as LedgerMisconfigured } from '../database/database.ts';
