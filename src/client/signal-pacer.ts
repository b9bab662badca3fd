/**
 * Paces signals below the rate limit that the server announces: the peers of a room of eight send more candidates at
 * once than a connection may, and a connection whose requests are refused again and again is closed.
 */
import type { Push } from '../protocol/index.ts';
import type { PageClock } from './runtime.ts';

/** Shares of the burst and of the rate: the rest is for other requests. A join of a large room costs a quarter of a burst. */
const BURST_SHARE = 0.7;
const RATE_SHARE = 0.9;

interface Turn {
  readonly come: () => void;
  readonly cancel: (error: Error) => void;
}

/** One queue with one timer: timers of their own would run out of order after a stall of the loop. */
export class SignalPacer {
  readonly #clock: PageClock;
  readonly #isOnline: () => boolean;
  #turns: Turn[] = [];
  #stopTimer: (() => void) | undefined;
  #eachMs = 0;
  #burstMs = 0;
  /** When the signals sent so far are paid for, by the monotonic clock. */
  #paidAt = 0;
  /** Signals whose turn came while there was no connection: they are sent as soon as there is one. */
  #unsent = 0;

  constructor(clock: PageClock, isOnline: () => boolean) {
    this.#clock = clock;
    this.#isOnline = isOnline;
  }

  /** A new connection has a full burst. */
  begin({ eventsPerSecond, eventsBurst }: Push<'welcome'>['limits']): void {
    this.#eachMs = 1_000 / (eventsPerSecond * RATE_SHARE);
    this.#burstMs = eventsBurst * BURST_SHARE * this.#eachMs;
    this.#paidAt = this.#clock.monotonic() - this.#burstMs + this.#unsent * this.#eachMs;
    this.#work();
    this.#unsent = 0; // all of them are paid for from this burst
  }

  /** Resolves when the next signal may be sent, in the order of the calls; undefined: now, before whatever is sent next. */
  turn(): Promise<void> | undefined {
    if (this.#turns.length === 0 && this.#waitMs() <= 0) {
      this.#pay();
      return undefined;
    }
    const turn = new Promise<void>((come, cancel) => void this.#turns.push({ come, cancel }));
    this.#work();
    return turn;
  }

  /** Rejects every signal that waits. They have not been paid for. */
  cancel(error: Error): void {
    for (const { cancel } of this.#turns.splice(0)) cancel(error);
    this.#work();
  }

  #work(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    while (this.#turns.length > 0 && this.#waitMs() <= 0) {
      this.#pay();
      this.#turns.shift()?.come();
    }
    if (this.#turns.length > 0) this.#stopTimer = this.#clock.after(this.#waitMs(), () => this.#work());
  }

  #waitMs(): number {
    const now = this.#clock.monotonic();
    return Math.max(this.#paidAt, now - this.#burstMs) + this.#eachMs - now;
  }

  #pay(): void {
    this.#paidAt = Math.max(this.#paidAt, this.#clock.monotonic() - this.#burstMs) + this.#eachMs;
    if (!this.#isOnline()) this.#unsent += 1;
  }
}
