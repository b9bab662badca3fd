/**
 * Work that a store has not done, or may not have done: it is tried again until it succeeds or its time is over. While the
 * store is down only one piece is tried, with back-off; once that has succeeded, the others follow at once.
 */
import { type Backoff, backoffMs, jittered } from '../backoff.ts';
import type { Chance } from '../chance.ts';
import type { Clock, Stop } from '../clock.ts';
import type { Log } from '../log.ts';

interface Piece {
  /** It may have been done already: it must do no harm a second time. */
  readonly work: () => Promise<unknown>;
  /** By the monotonic clock. */
  readonly until: number;
}

export interface ReattemptsOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly random: Chance;
  readonly log: Pick<Log, 'debug' | 'warn'>;
}

/** The longest wait is what passes at most, beside the time of one attempt, before the return of a store is noticed. */
const BACKOFF: Backoff = { firstMs: 100, maxMs: 1000 };
const SPREAD = { from: 0.5, to: 1 };
/** Tried at the same time, so that a store that is back is not met by a rush. */
const BATCH = 50;
/** Pieces that wait. The oldest are dropped: what they would undo ends by its lease. */
const MAX_PIECES = 50_000;

export class Reattempts {
  readonly #options: ReattemptsOptions;
  readonly #pieces = new Set<Piece>();
  /** First attempts under way. */
  readonly #first = new Set<Promise<unknown>>();
  #failures = 0;
  #stopTimer: Stop | undefined;
  #underWay: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: ReattemptsOptions) {
    this.#options = options;
  }

  /** Pieces that wait. */
  get size(): number {
    return this.#pieces.size;
  }

  /** Does the work now; if it fails, again, for `forMs` at most. Rejects never. */
  async run(work: () => Promise<unknown>, forMs: number): Promise<void> {
    const first = work().catch((error: unknown) => {
      this.#options.log.debug({ err: error }, 'tried again later');
      this.add(work, forMs);
    });
    this.#first.add(first);
    await first;
    this.#first.delete(first);
  }

  /** @param forMs after which it is given up */
  add(work: () => Promise<unknown>, forMs: number): void {
    this.#pieces.add({ work, until: this.#options.clock.monotonic() + forMs });
    if (this.#pieces.size > MAX_PIECES) {
      const [oldest] = this.#pieces;
      if (oldest !== undefined) this.#pieces.delete(oldest);
    }
    this.#plan();
  }

  /** Waits for the attempts under way, tries what waits once more, and nothing afterwards. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopTimer?.();
    await Promise.all([this.#underWay, ...this.#first]);
    await this.#attemptAll();
  }

  #plan(): void {
    if (this.#isStopped || this.#stopTimer !== undefined || this.#underWay !== undefined || this.#pieces.size === 0)
      return;
    const { clock, random } = this.#options;
    this.#stopTimer = clock.after(jittered(backoffMs(this.#failures, BACKOFF), SPREAD, random), () => {
      this.#stopTimer = undefined;
      this.#underWay = this.#attemptAll().finally(() => {
        this.#underWay = undefined;
        this.#plan();
      });
    });
  }

  /** Ends with the first batch that fails: the store is down. */
  async #attemptAll(): Promise<void> {
    const now = this.#options.clock.monotonic();
    for (const piece of this.#pieces) if (piece.until < now) this.#pieces.delete(piece);
    // Taken before: pieces that are added meanwhile have just failed.
    const pieces = [...this.#pieces];
    for (let from = 0, size = 1; from < pieces.length; from += size, size = BATCH) {
      const results = await Promise.all(pieces.slice(from, from + size).map((piece) => this.#attempt(piece)));
      this.#failures = results.includes(false) ? this.#failures + 1 : 0;
      if (this.#failures > 0) return;
    }
  }

  async #attempt(piece: Piece): Promise<boolean> {
    this.#pieces.delete(piece);
    try {
      await piece.work();
      return true;
    } catch (error) {
      this.#options.log.debug({ err: error }, 'tried again later');
      // To the end: a piece that fails for a reason of its own must not be the one that is always tried first.
      this.#pieces.add(piece);
      return false;
    }
  }
}
