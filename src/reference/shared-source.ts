/** Numbers from the counter in Redis that all nodes share; from the ledger while Redis is away. */
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
  /** Fallback while Redis is away. */
  readonly ledgerSource: NumberSource;
  readonly outageMs: number;
  readonly minBlock: number;
  /** Whether this node buffers numbers in memory, so that requests do not wait for Redis. */
  readonly isBuffered: boolean;
  readonly log: Log;
}

/** The buffer lasts this long at the recent rate: a restart wastes no more numbers than that. */
const BUFFER_MS = 10_000;
const MIN_BUFFERED = 32;

export class SharedSource implements NumberSource {
  readonly #options: SharedSourceOptions;
  /** Years with a lease ahead of need under way: one at a time for each. */
  readonly #leasing = new Set<number>();
  /** Rest of the blocks that this process leased for itself while Redis was away. */
  readonly #reserve = new HeldRanges();
  #lastTaken: TakeRequest['after'];

  constructor(options: SharedSourceOptions) {
    this.#options = options;
  }

  sizing(perMs: number): Sizing {
    if (!this.#options.isBuffered) return { low: 0, amount: 0, aheadMs: 0 };
    const amount = Math.max(MIN_BUFFERED, Math.ceil(perMs * BUFFER_MS));
    return { low: amount / 2, amount, aheadMs: 0 };
  }

  async draw(request: NumberRequest): Promise<NumberBatch> {
    const { counter, type, outageMs, minBlock, log } = this.#options;
    const { needed, preferred, year } = request;
    const { inUse: leased } = this.#options.leaser;
    let taken: TakeResult;
    try {
      taken = await counter.take({ type, needed, preferred, year, outageMs, minBlock, leased, after: this.#lastTaken });
    } catch (error) {
      // Falls back to the ledger in both cases: Redis does not answer, or it refuses the script.
      if (!(error instanceof CounterUnavailable)) log.debug({ err: error }, 'Redis refuses to count references');
      return this.#drawFromLedger(request);
    }
    if (!taken.ok) return { ...taken, ranges: [await this.#leaseNow(preferred, taken.short)] };
    this.#remember(taken);
    for (const hint of taken.hints) this.#leaseAhead(hint);
    return taken;
  }

  /** Keeps the rest of a block in reserve: next time, Redis and the database may both be away. */
  async #drawFromLedger(request: NumberRequest): Promise<NumberBatch> {
    const { needed, preferred, now } = request;
    const year = request.year ?? yearOf(now);
    const reserved = this.#reserve.take(preferred, year) ?? this.#reserve.take(needed, year);
    if (reserved !== undefined) return { ranges: reserved, year, now };
    const drawn = await this.#options.ledgerSource.draw(request);
    this.#reserve.add(drawn.ranges);
    const ranges = this.#reserve.take(preferred, drawn.year) ?? this.#reserve.take(needed, drawn.year) ?? [];
    return { ...drawn, ranges };
  }

  #remember({ epoch, year, ranges }: Extract<TakeResult, { ok: true }>): void {
    const last = ranges.at(-1);
    if (last === undefined) return;
    this.#lastTaken = { epoch, year, number: last.last };
    this.#options.leaser.noteInUse(last);
  }

  /**
   * Leases a block, takes the needed numbers off its front before any other node can, and adds the rest to the counter.
   * An empty rest is added too: Redis must know how far numbers are leased before one of them is used, so that a database
   * that forgets the lease is noticed.
   */
  async #leaseNow(count: number, { year, amount, top }: LeaseHint): Promise<Range> {
    const lease = await this.#options.leaser.lease(year, Math.max(count, amount), top);
    const [front, rest] = split(lease, count);
    await this.#addBlock(rest ?? { ...lease, first: lease.last + 1 });
    return front ?? lease;
  }

  #leaseAhead({ year, amount, top }: LeaseHint): void {
    if (this.#leasing.has(year)) return;
    this.#leasing.add(year);
    this.#options.leaser
      .lease(year, amount, top)
      .then((lease) => this.#addBlock(lease))
      .catch((error: unknown) => this.#options.log.debug({ err: error, year }, 'numbers were not leased ahead of need'))
      .finally(() => this.#leasing.delete(year));
  }

  /** Never retried: when the outcome is unknown, the block may be in Redis, and must not be added twice. */
  async #addBlock(block: Range): Promise<void> {
    const { counter, type, log } = this.#options;
    try {
      if (await counter.add(type, block)) return;
      log.debug({ ...block }, 'a block of numbers came too late and was dropped');
    } catch (error) {
      log.debug({ err: error, ...block }, 'a block of numbers was dropped: it is unknown whether Redis has it');
    }
  }
}
