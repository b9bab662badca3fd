/** The wait before each attempt to connect: the wait demanded by the server, plus back-off over the failures in a row. */
import { type Backoff, fullJitterMs } from './full-jitter.ts';
import type { Runtime } from './runtime.ts';

export class ReconnectSchedule {
  readonly #backoff: Backoff;
  readonly #runtime: Runtime;
  /** Failures and drains in a row. */
  #attempts = 0;
  /** End of the wait demanded by the server, by the monotonic clock. */
  #notBefore = 0;

  constructor(backoff: Backoff, runtime: Runtime) {
    this.#backoff = backoff;
    this.#runtime = runtime;
  }

  /** Milliseconds until the server allows an attempt. No event of the network or of the page shortens them. */
  get blockedMs(): number {
    return this.#notBefore - this.#runtime.clock.monotonic();
  }

  /** After a stable connection: earlier failures no longer count. */
  reset(): void {
    this.#attempts = 0;
  }

  /** @returns milliseconds to wait before the next attempt. */
  afterFailure(minMs: number): number {
    return this.#next(fullJitterMs(this.#attempts, this.#backoff, this.#runtime.chance, minMs), minMs);
  }

  /**
   * A draining server assigns each client its own wait, already spread: it is used without jitter. After a failure or
   * another drain, the back-off is added: servers that drain at every attempt are retried no faster than unreachable ones.
   */
  afterDrain(waitMs: number): number {
    return this.#attempts === 0 ? this.#next(waitMs, waitMs) : this.afterFailure(waitMs);
  }

  #next(waitMs: number, minMs: number): number {
    this.#attempts += 1;
    this.#notBefore = this.#runtime.clock.monotonic() + minMs;
    return waitMs;
  }
}
