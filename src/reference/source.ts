/** Where a process draws numbers from: the ledger alone, or what all nodes count on together and the ledger behind it. */
import type { Range } from './range.ts';

export interface NumberBatch {
  /** All of one year. */
  readonly ranges: readonly Range[];
  readonly year: number;
  /** The clock of the store that they come from: milliseconds since 1970. */
  readonly now: number;
}

/** How many numbers are held in memory. */
export interface Sizing {
  /** With fewer than this, more are drawn, while nobody waits. */
  readonly low: number;
  /** How many then. */
  readonly amount: number;
  /** So long before the year ends, numbers of the next one are drawn too. */
  readonly aheadMs: number;
}

export interface NumberRequest {
  /** No fewer than this. */
  readonly needed: number;
  /** As many, if there are so many. */
  readonly preferred: number;
  /** What is asked for in a millisecond, as of late. */
  readonly perMs: number;
  /** Instead of the year of the store's clock. */
  readonly year: number | undefined;
  /** The store's clock, as far as the asker knows it. */
  readonly now: number;
}

export interface NumberSource {
  sizing(perMs: number): Sizing;
  /** @throws ReferenceUnavailable */
  draw(wish: NumberRequest): Promise<NumberBatch>;
}
