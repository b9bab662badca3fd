/** Port of a source of numbers: the ledger alone, or Redis with the ledger behind it. */
import type { Range } from './range.ts';

export interface NumberBatch {
  /** All of the same year. */
  readonly ranges: readonly Range[];
  readonly year: number;
  /** The clock of the store that they come from: milliseconds since 1970. */
  readonly now: number;
}

/** How many numbers to hold in memory. */
export interface Sizing {
  /** Low-water mark: with fewer numbers left, more are drawn in the background. */
  readonly low: number;
  /** How many are drawn then. */
  readonly amount: number;
  /** This long before the year ends, numbers of the next year are drawn too. */
  readonly aheadMs: number;
}

export interface NumberRequest {
  /** Minimum. */
  readonly needed: number;
  /** Maximum, if there are as many. */
  readonly preferred: number;
  /** Recent request rate: numbers per millisecond. */
  readonly perMs: number;
  /** Fixed year, instead of the year of the store's clock. */
  readonly year: number | undefined;
  /** The store's clock, as estimated by the caller. */
  readonly now: number;
}

export interface NumberSource {
  sizing(perMs: number): Sizing;
  /** @throws ReferenceUnavailable */
  draw(request: NumberRequest): Promise<NumberBatch>;
}
