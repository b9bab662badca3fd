/** How many requests a connection may make: a bucket that refills, and strikes for those who go on when it is empty. */
import type { Clock } from '../../support/clock.ts';
import type { Options } from '../options/options.ts';

export type TakeResult =
  | { readonly granted: true }
  | { readonly granted: false; readonly retryAfterMs: number; readonly out: boolean };

const MAY: TakeResult = { granted: true };

export class TokenBucket {
  private left: number;
  private refilledAt: number;
  private strikes = 0;

  constructor({ eventsBurst }: Options, now: number) {
    this.left = eventsBurst;
    this.refilledAt = now;
  }

  /** Pays for one request. */
  take({ eventsPerSecond, eventsBurst, strikes }: Options, clock: Clock): TakeResult {
    const now = clock.now();
    // A clock that is set back must not take away what was there.
    const elapsed = Math.max(0, now - this.refilledAt);
    this.left = Math.min(eventsBurst, this.left + (elapsed * eventsPerSecond) / 1000);
    this.refilledAt = now;
    // Who has kept quiet for so long that the bucket is full begins anew.
    if (this.left === eventsBurst) this.strikes = 0;
    if (this.left >= 1) {
      this.left -= 1;
      return MAY;
    }
    this.strikes += 1;
    return { granted: false, retryAfterMs: ((1 - this.left) * 1000) / eventsPerSecond, out: this.strikes >= strikes };
  }
}
