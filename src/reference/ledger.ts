/** Port of the ledger, the durable seeds of the numbers, and its contract. SQL databases implement it. */

export interface LeaseRequest {
  /** Prefix and year of the references that the numbers are for. */
  readonly prefix: string;
  readonly year: number;
  /** Size of the block. 0 leases nothing, and fails when a lease would: to learn whether the ledger works again. */
  readonly step: number;
  /** A number known to be in use: the lease begins after it, even when the seed is lower. */
  readonly floor: number;
}

export interface Lease {
  readonly first: number;
  readonly last: number;
  /** The seed before this lease. */
  readonly seed: number;
  /**
   * Expected minimum of the seed: the higher of the request's floor and the high-water mark. A lower seed means that the
   * database has lost leases: it was restored from a backup, or is a different one.
   */
  readonly floor: number;
}

export interface HighWaterMark {
  readonly prefix: string;
  readonly year: number;
  readonly sequence: number;
}

/**
 * Contract:
 * - A lease is durable before it is answered. No two leases of one prefix and year overlap, across all processes.
 * - A lease whose answer is lost stays unused: its numbers are never leased again.
 * - Every promise settles within some seconds, whatever happens to the database.
 */
export interface Ledger {
  /** Kind and location of the database, without credentials. For people. */
  readonly name: string;
  /** Connects and applies missing migrations, also when several do so at once. The other methods do it when needed. */
  open(): Promise<void>;
  /** The database's clock: milliseconds since 1970. */
  now(): Promise<number>;
  lease(request: LeaseRequest): Promise<Lease>;
  /** Stores high-water marks, so that a seed that falls behind them is noticed. */
  record(marks: readonly HighWaterMark[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Gap left after the highest number known to be in use when a seed has fallen behind: other processes may hold higher
 * numbers, leased before the database was restored.
 */
export const SKIP_AFTER_RESTORE = 1_000_000;

/** Largest block of a lease. At a higher request rate a shorter outage is bridged, but no restart wastes more than this. */
export const MAX_BLOCK = 10_000_000;

/** Thrown when the database can never be used as it is configured: no driver, no such scheme. */
export { DatabaseMisconfigured as LedgerMisconfigured } from '../database/database.ts';
