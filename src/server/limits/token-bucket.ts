/** Rate limit of a connection: a token bucket, with a strike for each request while it is empty. */
import type { Clock } from '../../support/clock.ts';
import type { Options } from '../options/options.ts';

export type TakeResult =
  | { readonly granted: true }
  | { readonly granted: false; readonly retryAfterMs: number; readonly exhausted: boolean };

const GRANTED: TakeResult = { granted: true };

export class TokenBucket {
  private left: number;
  private refilledAt: number;
  private strikes = 0;

  constructor({ eventsBurst }: Options, clock: Pick<Clock, 'monotonic'>) {
    this.left = eventsBurst;
    this.refilledAt = clock.monotonic();
  }

  /** Takes one token for a request. */
  take({ eventsPerSecond, eventsBurst, strikes }: Options, clock: Pick<Clock, 'monotonic'>): TakeResult {
    const now = clock.monotonic();
    const elapsed = now - this.refilledAt;
    this.left = Math.min(eventsBurst, this.left + (elapsed * eventsPerSecond) / 1000);
    this.refilledAt = now;
    // A full bucket resets the strikes.
    if (this.left === eventsBurst) this.strikes = 0;
    if (this.left >= 1) {
      this.left -= 1;
      return GRANTED;
    }
    this.strikes += 1;
    return {
      granted: false,
      retryAfterMs: ((1 - this.left) * 1000) / eventsPerSecond,
      exhausted: this.strikes >= strikes,
    };
  }
}
