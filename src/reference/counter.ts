/** What all nodes count on together: the port of Redis, and its laws. */
import type { ItemType } from './item-types.ts';
import type { Range } from './range.ts';

/**
 * One life of one primary. A Redis that was restarted, promoted from a replica or made a replica and promoted again is
 * another: it may have lost the last numbers it gave.
 */
export type RedisEpoch = string;

export interface TakeRequest {
  readonly type: ItemType;
  /** No fewer than this. */
  readonly needed: number;
  /** As many, if there are so many. */
  readonly preferred: number;
  /** Instead of the year of Redis' clock. */
  readonly year: number | undefined;
  /** How long the database may be away without anybody noticing. */
  readonly outageMs: number;
  /** Size of a block when next to nothing is asked for. */
  readonly minBlock: number;
  /** The highest number of each year that this node knows to be leased: Redis remembers it for the others. */
  readonly leased: readonly { readonly year: number; readonly number: number }[];
  /** The last number that this node was given by that epoch: what is lower is not given to it again. */
  readonly after: { readonly epoch: RedisEpoch; readonly year: number; readonly number: number } | undefined;
}

/** A year whose blocks run low: one node is told so, and leases more. */
export interface LeaseHint {
  readonly year: number;
  /** The highest number that is known to have been leased. */
  readonly top: number;
  /** How many to lease. */
  readonly amount: number;
}

export type TakeResult = {
  /** The clock of Redis: milliseconds since 1970. */
  readonly now: number;
  readonly year: number;
  readonly epoch: RedisEpoch;
} & (
  | { readonly ok: true; readonly ranges: readonly Range[]; readonly low: readonly LeaseHint[] }
  /** Fewer than are needed are left; none was taken. */
  | { readonly ok: false; readonly short: LeaseHint }
);

/**
 * Laws:
 * - Numbers are given out of blocks that were leased from the ledger before, each once.
 * - A block is good only in the epoch that was given it.
 * - `add` is never repeated with the same block, whatever became of it: the block may be there already.
 *
 * @throws CounterUnavailable when Redis does not answer; then it is not known what has happened.
 */
export interface Counter {
  take(ask: TakeRequest): Promise<TakeResult>;
  /**
   * Answers whether the block was taken in; one that is older than the last is not. An empty one (`first` is behind
   * `last`) tells how far numbers have been leased.
   */
  add(type: ItemType, block: Range): Promise<boolean>;
  close(): Promise<void>;
}

export class CounterUnavailable extends Error {
  override readonly name = 'CounterUnavailable';
}
