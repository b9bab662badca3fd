/**
 * The health of a store, taken from what it is asked to do: that it is connected does not show that it works. It is down
 * from the first failure until everything that has failed has succeeded again.
 */
import type { Clock, Stop } from './clock.ts';
import { HealthRecord } from './health-record.ts';
import { failureReason, type StoreHealth } from './store.ts';

export interface StoreWatchOptions {
  readonly clock: Pick<Clock, 'now' | 'every'>;
  /** The state or its reason has changed. */
  readonly onChange?: (health: StoreHealth) => void;
  /** Whether an error is a failure of the store. All are unless given. */
  readonly isFailure?: (error: unknown) => boolean;
  /** Between two attempts at what has failed. */
  readonly retryMs?: number;
}

interface Failure {
  readonly reason: string;
  readonly retry: (() => Promise<unknown>) | undefined;
}

const RETRY_MS = 2_000;

export class StoreWatch {
  readonly #options: StoreWatchOptions;
  /** What has failed and not succeeded since; the latest last. */
  readonly #failures = new Map<string, Failure>();
  readonly #health: HealthRecord;
  #stopRetries: Stop | undefined;
  #isRetrying = false;
  #isStopped = false;

  constructor(options: StoreWatchOptions) {
    this.#options = options;
    this.#health = new HealthRecord(options.clock, options.onChange);
  }

  health(): StoreHealth {
    return this.#health.current;
  }

  /**
   * Does the work, and notes its outcome.
   *
   * @param retry tries the same kind of work again through this watch, and changes nothing by that. It is called until it
   *   has succeeded: otherwise the health would be that of the last request, for as long as nobody makes another one. To be
   *   left out for work that its caller repeats.
   */
  async run<T>(work: string, run: () => Promise<T>, retry?: () => Promise<unknown>): Promise<T> {
    try {
      const result = await run();
      this.#failures.delete(work);
      if (this.#health.current.state !== 'up') this.#update();
      return result;
    } catch (error) {
      if (this.#options.isFailure?.(error) === false) throw error;
      this.#failures.delete(work);
      this.#failures.set(work, { reason: failureReason(error), retry });
      this.#update();
      throw error;
    }
  }

  /** Ends the retries. */
  stop(): void {
    this.#isStopped = true;
    this.#stopRetries?.();
  }

  #update(): void {
    const [work, failure] = [...this.#failures].at(-1) ?? [];
    const state = failure === undefined ? 'up' : 'down';
    this.#health.update({ state, ...(work !== undefined && failure && { reason: failure.reason, work }) });
    if (state === 'up') this.#endRetries();
    else this.#beginRetries();
  }

  #beginRetries(): void {
    if (this.#isStopped) return;
    this.#stopRetries ??= this.#options.clock.every(this.#options.retryMs ?? RETRY_MS, () => void this.#retry());
  }

  #endRetries(): void {
    this.#stopRetries?.();
    this.#stopRetries = undefined;
  }

  /** One after the other: a store that is back is not met by a rush. */
  async #retry(): Promise<void> {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    // Taken before: what fails again moves to the end of the map.
    const retries = [...this.#failures.values()].map(({ retry }) => retry);
    for (const retry of retries) {
      if (!this.#isStopped) await retry?.().catch(() => {}); // noted by `run`
    }
    this.#isRetrying = false;
  }
}
