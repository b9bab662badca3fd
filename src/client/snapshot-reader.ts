/** When the room's snapshot is read: one read at a time, soon after a gap, with back-off while it fails. */
import type { Stop } from '../support/clock.ts';
import type { SignalboxError } from './errors.ts';
import { DEFAULT_BACKOFF, fullJitterMs } from './full-jitter.ts';
import type { Runtime } from './runtime.ts';

/** Events of several nodes may overtake each other by some milliseconds: most gaps close without a snapshot. */
const GAP_MS = 250;

export class SnapshotReader {
  readonly #read: () => Promise<void>;
  readonly #onFinished: () => void;
  readonly #runtime: Runtime;
  #stopTimer: Stop | undefined;
  #isReading = false;
  #failures = 0;

  /**
   * @param read when it rejects, it is tried again
   * @param onFinished after each read, successful or not: calls `cancel` if no other read is wanted
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
      // With back-off: a server in trouble must not get four reads a second from every member.
      this.#setTimer(fullJitterMs(this.#failures, DEFAULT_BACKOFF, this.#runtime.chance, GAP_MS + retryAfterMs));
      this.#failures += 1;
    }
    this.#isReading = false;
    this.#onFinished();
  }

  /** Reads after a pause, unless a read is planned. */
  soon(): void {
    if (this.#stopTimer === undefined) this.#setTimer(GAP_MS);
  }

  /** Drops the planned read. */
  cancel(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #setTimer(ms: number): void {
    this.cancel();
    this.#stopTimer = this.#runtime.clock.after(ms, () => void this.now());
  }
}
