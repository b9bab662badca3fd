/**
 * Keeps the requests of a room within the rate limit that the server announces: the peers of a room of eight send more
 * candidates at once than a connection may, and a connection whose requests are refused again and again is closed.
 *
 * What a request costs is regained from its answer on, not from its sending: requests that queue on their way to a busy
 * server arrive together at a bucket that is no fuller than full.
 */
import type { Push } from '../protocol/index.ts';
import type { PageClock } from './runtime.ts';

/** Shares of the burst: what signals leave is for other requests, and what those leave is for reads and heartbeats. */
const SIGNAL_SHARE = 0.7;
const BURST_SHARE = 0.95;
const RATE_SHARE = 0.9;

interface Turn {
  readonly cost: number;
  readonly isSignal: boolean;
  readonly come: () => void;
  readonly cancel: (error: Error) => void;
}

/** One queue with one timer: timers of their own would run out of order after a stall of the loop. */
export class SignalPacer {
  readonly #clock: PageClock;
  #turns: Turn[] = [];
  #stopTimer: (() => void) | undefined;
  #eachMs = 0;
  #burstMs = 0;
  /** When what has been answered is regained, by the monotonic clock. */
  #regainedAt = 0;
  /** What those requests cost whose turn has come and that are not answered: under way, or waiting for the connection. */
  #unanswered = 0;

  constructor(clock: PageClock) {
    this.#clock = clock;
  }

  /** A new connection has a full burst. */
  begin({ eventsPerSecond, eventsBurst }: Push<'welcome'>['limits']): void {
    this.#eachMs = 1_000 / (eventsPerSecond * RATE_SHARE);
    this.#burstMs = eventsBurst * this.#eachMs;
    this.#regainedAt = 0;
    this.#work();
  }

  /**
   * Resolves when the request may be sent; undefined: now, before whatever is sent next. Signals wait in the order of the
   * calls, and so do other requests, which go before waiting signals. `answered` must follow.
   */
  turn(cost: number, isSignal: boolean): Promise<void> | undefined {
    const isNext = this.#turns.every((turn) => turn.isSignal && !isSignal);
    if (isNext && this.#waitMs(cost, isSignal) <= 0) {
      this.#unanswered += cost;
      return undefined;
    }
    return new Promise((come, cancel) => {
      const index = isSignal ? -1 : this.#turns.findIndex((turn) => turn.isSignal);
      this.#turns.splice(index < 0 ? this.#turns.length : index, 0, { cost, isSignal, come, cancel });
      this.#work();
    });
  }

  /** The request has its answer, or will have none. */
  answered(cost: number): void {
    this.#unanswered -= cost;
    this.charge(cost);
    this.#work();
  }

  /** Counts what was sent without a turn. */
  charge(cost: number): void {
    this.#regainedAt = Math.max(this.#regainedAt, this.#clock.monotonic()) + cost * this.#eachMs;
  }

  /** Rejects every request that waits. They have cost nothing. */
  cancel(error: Error): void {
    for (const { cancel } of this.#turns.splice(0)) cancel(error);
    this.#work();
  }

  #work(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    for (let [turn] = this.#turns; turn; [turn] = this.#turns) {
      const waitMs = this.#waitMs(turn.cost, turn.isSignal);
      if (waitMs > 0) {
        this.#stopTimer = this.#clock.after(waitMs, () => this.#work());
        return;
      }
      this.#turns.shift();
      this.#unanswered += turn.cost;
      turn.come();
    }
  }

  /** Less than the burst may be what one costs: it goes when nothing else is to be regained. */
  #waitMs(cost: number, isSignal: boolean): number {
    const limitMs = this.#burstMs * (isSignal ? SIGNAL_SHARE : BURST_SHARE);
    const usedMs = Math.max(this.#regainedAt - this.#clock.monotonic(), 0) + this.#unanswered * this.#eachMs;
    return usedMs + Math.min(cost * this.#eachMs, limitMs) - limitMs;
  }
}
