/** Schedules reads of the room's snapshot: one at a time, shortly after a gap, with back-off after failures. */
import type { Stop } from '../support/clock.ts';
import type { SignalboxError } from './errors.ts';
import { DEFAULT_BACKOFF, fullJitterMs } from './full-jitter.ts';
import type { Runtime } from './runtime.ts';

/** Delay of a read after a gap: events of several nodes may overtake each other, and most gaps close without a read. */
const GAP_MS = 250;

export class SnapshotReader {
  readonly #read: () => Promise<void>;
  readonly #onFinished: () => void;
  readonly #runtime: Runtime;
  #stopTimer: Stop | undefined;
  #isReading = false;
  #failures = 0;

  /**
   * @param read repeated when it rejects
   * @param onFinished after each read, successful or not: calls `cancel` if no further read is needed
   */
  constructor(read: () => Promise<void>, onFinished: () => void, runtime: Runtime) {
    this.#read = read;
    this.#onFinished = onFinished;
    this.#runtime = runtime;
  }

  /** Reads now, unless a read is under way. */
  async now(): Promise<void> {
    this.cancel();
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await this.#read();
      this.#failures = 0;
    } catch (error) {
      const { retryAfterMs = 0 } = error as Partial<SignalboxError>;
      // Back-off: an overloaded server must not get four reads a second from every member.
      this.#setTimer(fullJitterMs(this.#failures, DEFAULT_BACKOFF, this.#runtime.chance, GAP_MS + retryAfterMs));
      this.#failures += 1;
    }
    this.#isReading = false;
    this.#onFinished();
  }

  /** Reads after `GAP_MS`, unless a read is scheduled. */
  soon(): void {
    if (this.#stopTimer === undefined) this.#setTimer(GAP_MS);
  }

  /** Cancels the scheduled read. */
  cancel(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #setTimer(ms: number): void {
    this.cancel();
    this.#stopTimer = this.#runtime.clock.after(ms, () => void this.now());
  }
}
