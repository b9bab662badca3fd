/** Numbers out of Redis, where all nodes count together, with the ledger behind it; out of the ledger while Redis is away. */
import type { Log } from '../support/log.ts';
import type { BlockLeaser } from './block-leaser.ts';
import { type Counter, CounterUnavailable, type LeaseHint, type TakeRequest, type TakeResult } from './counter.ts';
import type { ItemType } from './item-types.ts';
import { HeldRanges, type Range, split, yearOf } from './range.ts';
import type { NumberBatch, NumberRequest, NumberSource, Sizing } from './source.ts';

export interface SharedSourceOptions {
  readonly type: ItemType;
  readonly counter: Counter;
  readonly leaser: BlockLeaser;
  /** What is drawn from while Redis is away. */
  readonly ledgerSource: NumberSource;
  readonly outageMs: number;
  readonly minBlock: number;
  /** Whether this node holds some numbers in memory, so that nobody waits for Redis. */
  readonly isBuffered: boolean;
  readonly log: Log;
}

/** What a node holds lasts so long: a restart leaves no more of them behind. */
const HELD_MS = 10_000;
const LEAST_HELD = 32;

export class SharedSource implements NumberSource {
  readonly #options: SharedSourceOptions;
  /** One lease ahead of need at a time, for each year. */
  readonly #underWay = new Set<number>();
  /** Leased by this process alone while Redis was away. */
  readonly #reserve = new HeldRanges();
  #after: TakeRequest['after'];

  constructor(options: SharedSourceOptions) {
    this.#options = options;
  }

  sizing(perMs: number): Sizing {
    if (!this.#options.isBuffered) return { low: 0, amount: 0, aheadMs: 0 };
    const amount = Math.max(LEAST_HELD, Math.ceil(perMs * HELD_MS));
    return { low: amount / 2, amount, aheadMs: 0 };
  }

  async draw(wish: NumberRequest): Promise<NumberBatch> {
    const { counter, type, outageMs, minBlock, log } = this.#options;
    const { needed, preferred, year } = wish;
    const { inUse: leased } = this.#options.leaser;
    let taken: TakeResult;
    try {
      taken = await counter.take({ type, needed, preferred, year, outageMs, minBlock, leased, after: this.#after });
    } catch (error) {
      // Neither keeps the ledger from answering: a Redis that is away, nor one that refuses the script.
      if (!(error instanceof CounterUnavailable)) log.warn({ err: error }, 'Redis refuses to count references');
      return this.#drawAlone(wish);
    }
    if (!taken.ok) return { ...taken, ranges: [await this.#leaseNow(preferred, taken.short)] };
    this.#remember(taken);
    for (const low of taken.low) this.#leaseAhead(low);
    return taken;
  }

  /** What is left of a block is kept: Redis may be away another time, and the database with it. */
  async #drawAlone(wish: NumberRequest): Promise<NumberBatch> {
    const { needed, preferred, now } = wish;
    const year = wish.year ?? yearOf(now);
    const kept = this.#reserve.take(preferred, year) ?? this.#reserve.take(needed, year);
    if (kept !== undefined) return { ranges: kept, year, now };
    const drawn = await this.#options.ledgerSource.draw(wish);
    this.#reserve.add(drawn.ranges);
    const ranges = this.#reserve.take(preferred, drawn.year) ?? this.#reserve.take(needed, drawn.year) ?? [];
    return { ...drawn, ranges };
  }

  #remember({ epoch, year, ranges }: Extract<TakeResult, { ok: true }>): void {
    const last = ranges.at(-1);
    if (last === undefined) return;
    this.#after = { epoch, year, number: last.last };
    this.#options.leaser.noteInUse(last);
  }

  /**
   * Keeps what is waited for and hands in the rest: nobody can take it away in between. Even when nothing is left: before
   * a number is used Redis knows that it was leased, and a database that forgets it is found out.
   */
  async #leaseNow(count: number, { year, amount, top }: LeaseHint): Promise<Range> {
    const lease = await this.#options.leaser.lease(year, Math.max(count, amount), top);
    const [kept, rest] = split(lease, count);
    await this.#handIn(rest ?? { ...lease, first: lease.last + 1 });
    return kept ?? lease;
  }

  #leaseAhead({ year, amount, top }: LeaseHint): void {
    if (this.#underWay.has(year)) return;
    this.#underWay.add(year);
    this.#options.leaser
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
