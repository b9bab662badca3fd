/** Port of the counter that all nodes share, and its contract. Redis implements it. */
import type { StoreHealth } from '../support/store.ts';
import type { ItemType } from './item-types.ts';
import type { Range } from './range.ts';

/**
 * Identity of one uninterrupted term of one primary. It changes when Redis restarts or a replica is promoted: the new
 * primary may have lost the last numbers given out.
 */
export type RedisEpoch = string;

export interface TakeRequest {
  readonly type: ItemType;
  /** Minimum. */
  readonly needed: number;
  /** Maximum, if there are as many. */
  readonly preferred: number;
  /** Fixed year, instead of the year of Redis' clock. */
  readonly year: number | undefined;
  /** Length of a database outage to bridge. */
  readonly outageMs: number;
  /** Smallest block to lease, for a low request rate. */
  readonly minBlock: number;
  /** Highest number of each year that this node knows to be leased; Redis shares it with the other nodes. */
  readonly leased: readonly { readonly year: number; readonly number: number }[];
  /** Last number that this node was given in that epoch: it is given higher ones only. */
  readonly after: { readonly epoch: RedisEpoch; readonly year: number; readonly number: number } | undefined;
}

/** Asks one node to lease more numbers of a year, because its blocks run low. */
export interface LeaseHint {
  readonly year: number;
  /** Highest number known to be leased. */
  readonly top: number;
  /** Size of the block to lease. */
  readonly amount: number;
}

export type TakeResult = {
  /** The clock of Redis: milliseconds since 1970. */
  readonly now: number;
  readonly year: number;
  readonly epoch: RedisEpoch;
} & (
  | { readonly ok: true; readonly ranges: readonly Range[]; readonly hints: readonly LeaseHint[] }
  /** Fewer than needed are left; none was taken. */
  | { readonly ok: false; readonly short: LeaseHint }
);

/**
 * Contract:
 * - Numbers are taken from blocks that were leased from the ledger before. Each number is given out once.
 * - A block is valid only in the epoch in which it was added.
 * - A caller MUST NOT add a block twice, whatever the outcome of the first call: the block may be there already.
 *
 * @throws CounterUnavailable when Redis does not answer; the outcome is then unknown.
 */
export interface Counter {
  take(request: TakeRequest): Promise<TakeResult>;
  /**
   * @param block an empty one (`first` after `last`) only tells how far numbers are leased.
   * @returns false when the block was refused because a higher one was added before.
   */
  add(type: ItemType, block: Range): Promise<boolean>;
  health(): StoreHealth;
  close(): Promise<void>;
}

export class CounterUnavailable extends Error {
  override readonly name = 'CounterUnavailable';
}
