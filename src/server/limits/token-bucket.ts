/**
 * Rate limit of a connection: a token bucket, with a strike for each request while it is empty. What a request costs is
 * known in part only once it is answered: the bucket may go below zero, and is then empty until that has been refilled.
 */
import type { Clock } from '../../support/clock.ts';
import type { Options } from '../options/options.ts';

export type TakeResult =
  | { readonly granted: true }
  | { readonly granted: false; readonly retryAfterMs: number; readonly exhausted: boolean };

const GRANTED: TakeResult = { granted: true };

/** Strikes are counted anew after this long: a client that is refused now and then, and waits, is not ended for it. */
const STRIKES_WITHIN_MS = 5000;

export class TokenBucket {
  private left: number;
  private refilledAt: number;
  private strikes = 0;
  private strikesBegan = 0;

  constructor({ eventsBurst }: Options, clock: Pick<Clock, 'monotonic'>) {
    this.left = eventsBurst;
    this.refilledAt = clock.monotonic();
  }

  /** Takes the token that every request costs. */
  take(options: Options, clock: Pick<Clock, 'monotonic'>): TakeResult {
    const { eventsPerSecond, eventsBurst } = options;
    const now = clock.monotonic();
    const elapsed = now - this.refilledAt;
    this.left = Math.min(eventsBurst, this.left + (elapsed * eventsPerSecond) / 1000);
    this.refilledAt = now;
    // A full bucket resets the strikes.
    if (this.left === eventsBurst) this.strikes = 0;
    return this.spend(1, 1, options);
  }

  /** Takes what a request costs beside that token; from a bucket that is full otherwise, even if it costs more. */
  takeMore(tokens: number, options: Options): TakeResult {
    return this.spend(tokens, Math.min(tokens, options.eventsBurst - 1), options);
  }

  /** Charges what was done without asking; a negative amount gives back. */
  charge(tokens: number): void {
    this.left -= tokens;
  }

  private spend(tokens: number, needed: number, { eventsPerSecond, strikes }: Options): TakeResult {
    if (this.left >= needed) {
      this.left -= tokens;
      return GRANTED;
    }
    // By the time of the `take` that began this request.
    if (this.refilledAt - this.strikesBegan >= STRIKES_WITHIN_MS) {
      this.strikes = 0;
      this.strikesBegan = this.refilledAt;
    }
    this.strikes += 1;
    return {
      granted: false,
      retryAfterMs: ((needed - this.left) * 1000) / eventsPerSecond,
      exhausted: this.strikes >= strikes,
    };
  }
}
