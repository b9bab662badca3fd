/**
 * The clock of Redis, as this node knows it: each reply that carries the time bounds the difference to the monotonic clock
 * of this node, because Redis has read its clock between the question and the answer. The bounds of all replies are
 * intersected, so one quick reply is enough, and a reply of a Redis that was frozen does no harm.
 */
import type { Clock } from '../support/clock.ts';

/** Milliseconds by which two clocks may drift apart in one: crystals differ by less. */
const MAX_DRIFT = 0.000_2;

export class StoreClock {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Bounds of what is to be added to the monotonic clock. */
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  #learntAt = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Milliseconds since 1970; undefined while no reply has told. */
  now(): number | undefined {
    if (this.#low === Number.NEGATIVE_INFINITY) return undefined;
    return this.#clock.monotonic() + (this.#low + this.#high) / 2;
  }

  /** @param time of a reply that has just arrived. @param askedAt when it was asked for, by the monotonic clock. */
  learn(time: number, askedAt: number): void {
    const now = this.#clock.monotonic();
    const low = time - now;
    const high = time - askedAt + 1; // the time is in whole milliseconds
    const drift = (now - this.#learntAt) * MAX_DRIFT;
    const isSteady = low <= this.#high + drift && high >= this.#low - drift;
    // Otherwise the clock was set, or another server has taken over.
    this.#low = isSteady ? Math.max(low, this.#low - drift) : low;
    this.#high = isSteady ? Math.min(high, this.#high + drift) : high;
    this.#learntAt = now;
  }
}
