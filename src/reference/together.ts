/** Numbers out of Redis, where all nodes count together, with the ledger behind it; out of the ledger while Redis is away. */
import type { Log } from '../support/log.ts';
import { type Counter, CounterUnavailable, type Low, type TakeAsk, type Taken } from './counter.ts';
import type { ItemType } from './item-types.ts';
import type { Leasing } from './leasing.ts';
import { type Range, Stock, split } from './range.ts';
import type { Draw, Sizing, Supply, Wish } from './supply.ts';
import { yearOf } from './year.ts';

export interface TogetherOptions {
  readonly type: ItemType;
  readonly counter: Counter;
  readonly leasing: Leasing;
  /** What is drawn from while Redis is away. */
  readonly alone: Supply;
  readonly outageMs: number;
  readonly leastBlock: number;
  /** Whether this node holds some numbers in memory, so that nobody waits for Redis. */
  readonly held: boolean;
  readonly log: Log;
}

/** What a node holds lasts so long: a restart leaves no more of them behind. */
const HELD_MS = 10_000;
const LEAST_HELD = 32;

export class Together implements Supply {
  readonly #options: TogetherOptions;
  /** One lease ahead of need at a time, for each year. */
  readonly #underWay = new Set<number>();
  /** Leased by this process alone while Redis was away. */
  readonly #reserve = new Stock();
  #after: TakeAsk['after'];

  constructor(options: TogetherOptions) {
    this.#options = options;
  }

  sizing(perMs: number): Sizing {
    if (!this.#options.held) return { low: 0, amount: 0, aheadMs: 0 };
    const amount = Math.max(LEAST_HELD, Math.ceil(perMs * HELD_MS));
    return { low: amount / 2, amount, aheadMs: 0 };
  }

  async draw(wish: Wish): Promise<Draw> {
    const { counter, type, outageMs, leastBlock, log } = this.#options;
    const { needed, welcome, year } = wish;
    const { known } = this.#options.leasing;
    let taken: Taken;
    try {
      taken = await counter.take({ type, needed, welcome, year, outageMs, leastBlock, known, after: this.#after });
    } catch (error) {
      // Neither keeps the ledger from answering: a Redis that is away, nor one that refuses the script.
      if (!(error instanceof CounterUnavailable)) log.warn({ err: error }, 'Redis refuses to count references');
      return this.#drawAlone(wish);
    }
    if (!taken.ok) return { ...taken, ranges: [await this.#leaseNow(welcome, taken.short)] };
    this.#remember(taken);
    for (const low of taken.low) this.#leaseAhead(low);
    return taken;
  }

  /** What is left of a block is kept: Redis may be away another time, and the database with it. */
  async #drawAlone(wish: Wish): Promise<Draw> {
    const { needed, welcome, now } = wish;
    const year = wish.year ?? yearOf(now);
    const kept = this.#reserve.take(welcome, year) ?? this.#reserve.take(needed, year);
    if (kept !== undefined) return { ranges: kept, year, now };
    const drawn = await this.#options.alone.draw(wish);
    this.#reserve.add(drawn.ranges);
    const ranges = this.#reserve.take(welcome, drawn.year) ?? this.#reserve.take(needed, drawn.year) ?? [];
    return { ...drawn, ranges };
  }

  #remember({ incarnation, year, ranges }: Extract<Taken, { ok: true }>): void {
    const last = ranges.at(-1);
    if (last === undefined) return;
    this.#after = { incarnation, year, number: last.last };
    this.#options.leasing.know(last);
  }

  /**
   * Keeps what is waited for and hands in the rest: nobody can take it away in between. Even when nothing is left: before
   * a number is used Redis knows that it was leased, and a database that forgets it is found out.
   */
  async #leaseNow(count: number, { year, amount, top }: Low): Promise<Range> {
    const lease = await this.#options.leasing.lease(year, Math.max(count, amount), top);
    const [kept, rest] = split(lease, count);
    await this.#handIn(rest ?? { ...lease, first: lease.last + 1 });
    return kept ?? lease;
  }

  #leaseAhead({ year, amount, top }: Low): void {
    if (this.#underWay.has(year)) return;
    this.#underWay.add(year);
    this.#options.leasing
      .lease(year, amount, top)
      .then((lease) => this.#handIn(lease))
      .catch((error: unknown) => this.#options.log.warn({ err: error, year }, 'numbers were not leased ahead of need'))
      .finally(() => this.#underWay.delete(year));
  }

  /** Once: a block whose fate is not known may be there, and must not come a second time. */
  async #handIn(block: Range): Promise<void> {
    const { counter, type, log } = this.#options;
    try {
      if (await counter.add(type, block)) return;
      log.debug({ ...block }, 'a block of numbers came too late and was dropped');
    } catch (error) {
      log.debug({ err: error, ...block }, 'a block of numbers was dropped: whether Redis has it is not known');
    }
  }
}
