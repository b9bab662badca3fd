/** Buffer of the numbers of one item type: serves requests from memory, and draws from its source, one draw at a time. */
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import { createStoreTime, type StoreTime } from '../support/store-time.ts';
import { HeldRanges, type Range, startOf, yearOf } from './range.ts';
import type { NumberBatch, NumberSource } from './source.ts';

export interface NumberBufferOptions {
  readonly source: NumberSource;
  readonly clock: Clock;
  readonly log: Log;
  /** Fixed year, instead of the year of the store's clock. */
  readonly year: number | undefined;
}

interface Waiter {
  readonly count: number;
  readonly resolve: (ranges: readonly Range[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Time constant of the request rate: a request this old counts for about a third. */
const RATE_MEMORY_MS = 30_000;
/** Pause after a background draw has failed. */
const PAUSE_MS = 1_000;

export class NumberBuffer {
  readonly #options: NumberBufferOptions;
  readonly #held = new HeldRanges();
  readonly #rate = new RequestRate();
  #waiting: Waiter[] = [];
  #drawing = false;
  readonly #time: StoreTime;
  #pausedUntil = 0;

  constructor(options: NumberBufferOptions) {
    this.#options = options;
    this.#time = createStoreTime(options.clock);
  }

  /** @throws ReferenceUnavailable */
  async take(count: number): Promise<readonly Range[]> {
    this.#rate.add(count, this.#options.clock.monotonic());
    const ready = this.#waiting.length === 0 ? this.#held.take(count, this.#year()) : undefined;
    if (ready !== undefined) {
      this.#drawAhead();
      return ready;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ count, resolve, reject });
      void this.#pump();
    });
  }

  /**
   * Fills the buffer.
   *
   * @throws ReferenceUnavailable
   */
  async prepare(): Promise<void> {
    this.#keep(await this.#draw(1, Math.max(1, this.#sizing().amount), this.#options.year));
  }

  #year(): number {
    return this.#options.year ?? yearOf(this.#time.now());
  }

  /** Serves the waiting requests; those that arrive during a draw share the next one. Never rejects. */
  async #pump(): Promise<void> {
    if (this.#drawing) return;
    this.#drawing = true;
    while (this.#waiting.length > 0) {
      // Requests of the same turn share one draw.
      await Promise.resolve();
      const waiting = this.#waiting;
      this.#waiting = [];
      await this.#serve(waiting);
    }
    this.#drawing = false;
  }

  async #serve(waiting: readonly Waiter[]): Promise<void> {
    try {
      const needed = waiting.reduce((sum, { count }) => sum + count, 0);
      const drawn = await this.#draw(needed, needed + this.#sizing().amount, this.#options.year);
      // Synchronous to the last waiter: another request must not take the numbers drawn for these.
      this.#keep(drawn);
      for (const { count, resolve } of waiting) resolve(this.#held.take(count, drawn.year) ?? short(count));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  #perMs(): number {
    return this.#rate.at(this.#options.clock.monotonic());
  }

  #sizing() {
    return this.#options.source.sizing(this.#perMs());
  }

  #draw(needed: number, preferred: number, year: number | undefined): Promise<NumberBatch> {
    return this.#options.source.draw({ needed, preferred, perMs: this.#perMs(), year, now: this.#time.now() });
  }

  #keep({ ranges, now }: NumberBatch): void {
    this.#time.learn(now);
    this.#held.add(ranges);
  }

  /** The year whose numbers are below the low-water mark, if any: the current one, or the next one when it is near. */
  #lowYear(): number | undefined {
    const { low, aheadMs } = this.#sizing();
    if (low === 0) return undefined;
    const year = this.#year();
    if (this.#held.size(year) < low) return year;
    const next = year + 1;
    const isNear = this.#options.year === undefined && startOf(next) - this.#time.now() < aheadMs;
    return isNear && this.#held.size(next) < low ? next : undefined;
  }

  #drawAhead(): void {
    const { clock, log } = this.#options;
    if (this.#drawing || clock.monotonic() < this.#pausedUntil) return;
    const year = this.#lowYear();
    if (year === undefined) return;
    this.#drawing = true;
    const { amount } = this.#sizing();
    this.#draw(1, amount, year === this.#year() ? this.#options.year : year)
      .then((drawn) => this.#keep(drawn))
      .catch((error: unknown) => {
        this.#pausedUntil = clock.monotonic() + PAUSE_MS;
        // The log of the ledger has told it already, once.
        log.debug({ err: error }, 'numbers were not drawn ahead of need');
      })
      .finally(() => {
        this.#drawing = false;
        if (this.#waiting.length > 0) void this.#pump();
      });
  }
}

const short = (count: number): never => {
  throw new RangeError(`a source has drawn fewer than ${count} numbers`);
};

/** Numbers asked for per millisecond, as an exponentially decaying average. */
class RequestRate {
  #perMs = 0;
  #at = 0;

  add(count: number, now: number): void {
    this.#perMs = this.at(now) + count / RATE_MEMORY_MS;
    this.#at = now;
  }

  at(now: number): number {
    return this.#perMs * Math.exp(-Math.max(0, now - this.#at) / RATE_MEMORY_MS);
  }
}
