/**
 * Rate limit of reconnects, by user: a seat that is resumed costs a snapshot of its room, and two events to all members. The
 * bucket of a connection cannot count that, because each connection begins with a full one.
 */
import type { Clock } from '../../support/clock.ts';
import { Generations } from './generations.ts';

/** Reconnects that are free at once: those of a network that comes and goes. */
const BURST = 20;
const INTERVAL_MS = 1000;

export class ResumeBudget {
  private readonly clock: Pick<Clock, 'monotonic'>;
  /** When the last one of each user will have been paid for. */
  private readonly paidAt: Generations<number>;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.clock = clock;
    this.paidAt = new Generations(clock, BURST * INTERVAL_MS);
  }

  /** @returns 0, or the milliseconds after which the user may connect again. A refusal costs nothing. */
  take(userId: string): number {
    const now = this.clock.monotonic();
    const paidAt = Math.max(now, this.paidAt.get(userId) ?? 0) + INTERVAL_MS;
    const waitMs = paidAt - now - BURST * INTERVAL_MS;
    if (waitMs > 0) return Math.ceil(waitMs);
    this.paidAt.set(userId, paidAt);
    return 0;
  }
}
