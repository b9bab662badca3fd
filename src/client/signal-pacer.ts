/**
 * Paces signals below the rate limit that the server announces: the peers of a room of eight send more candidates at
 * once than a connection may, and a connection whose requests are refused again and again is closed.
 */
import type { Push } from '../protocol/index.ts';
import type { PageClock } from './runtime.ts';

/** Share of the burst: the rest is for other requests. A join of a large room costs a quarter of a burst. */
const BURST_SHARE = 0.7;

export class SignalPacer {
  #eachMs = 0;
  #burstMs = 0;
  /** When the signals sent so far are paid for, by the monotonic clock. */
  #paidAt = 0;

  /** A new connection has a full burst. */
  begin({ eventsPerSecond, eventsBurst }: Push<'welcome'>['limits']): void {
    this.#eachMs = 1_000 / eventsPerSecond;
    this.#burstMs = eventsBurst * BURST_SHARE * this.#eachMs;
    this.#paidAt = 0;
  }

  /** Resolves when the next signal may be sent, in the order of the calls; undefined: now, before whatever is sent next. */
  turn(clock: PageClock): Promise<void> | undefined {
    const now = clock.monotonic();
    this.#paidAt = Math.max(this.#paidAt, now - this.#burstMs) + this.#eachMs;
    const waitMs = this.#paidAt - now;
    return waitMs > 0 ? new Promise((resolve) => void clock.after(waitMs, resolve)) : undefined;
  }
}
