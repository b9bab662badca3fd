/** When to connect again: back-off over the failures in a row, on top of the wait that the server asks for. */
import { type Backoff, fullJitterMs } from './full-jitter.ts';
import type { Runtime } from './runtime.ts';

export class ReconnectSchedule {
  readonly #backoff: Backoff;
  readonly #runtime: Runtime;
  /** Failures and drains in a row. */
  #attempts = 0;
  /** Before this the server does not want to be asked again. By the monotonic clock. */
  #notBefore = 0;

  constructor(backoff: Backoff, runtime: Runtime) {
    this.#backoff = backoff;
    this.#runtime = runtime;
  }

  /** Milliseconds until an attempt is allowed. Nothing shortens them: no event of the network, no page shown again. */
  get blockedMs(): number {
    return this.#notBefore - this.#runtime.clock.monotonic();
  }

  /** A connection was stable: the failures before it no longer count. */
  reset(): void {
    this.#attempts = 0;
  }

  /** @returns milliseconds to wait before the next attempt. */
  afterFailure(minMs: number): number {
    return this.#next(fullJitterMs(this.#attempts, this.#backoff, this.#runtime.chance, minMs), minMs);
  }

  /**
   * A draining server gives each client a wait of its own, spread over the drain: it is kept exactly. After a failure or
   * another drain, jitter is added: servers that send clients away at once are asked no faster than unreachable ones.
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
