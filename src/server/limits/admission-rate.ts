/**
 * Rate limit of the sessions that a node begins, over all addresses: a node that all clients of a lost one come to at once
 * still serves those that it has. A token bucket; who comes too early is told when to come again, each client another time.
 */
import type { Clock } from '../../support/clock.ts';
import type { Random } from '../../support/random.ts';
import type { Options } from '../options/options.ts';

/** No longer wait is told: less than the grace of a seat by default, with the jitter of a client. */
const MAX_WAIT_MS = 20_000;

export class AdmissionRate {
  private readonly intervalMs: number;
  private readonly burstMs: number;
  private readonly clock: Pick<Clock, 'monotonic'>;
  private readonly random: Random;
  /** When the sessions begun so far are paid for. */
  private paidAt = Number.NEGATIVE_INFINITY;
  /** The last instant that a refused client was told. */
  private toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    { connectionsPerSecond, connectionsBurst }: Pick<Options, 'connectionsPerSecond' | 'connectionsBurst'>,
    clock: Pick<Clock, 'monotonic'>,
    random: Random,
  ) {
    this.intervalMs = 1000 / connectionsPerSecond;
    this.burstMs = connectionsBurst * this.intervalMs;
    this.clock = clock;
    this.random = random;
  }

  /** @returns 0, or the milliseconds after which the client may come again. A refusal costs nothing. */
  take(): number {
    const now = this.clock.monotonic();
    const paidAt = Math.max(this.paidAt, now) + this.intervalMs;
    if (paidAt - now <= this.burstMs) {
      this.paidAt = paidAt;
      return 0;
    }
    // One behind the other, as the bucket fills. Those for whom that would be too long are spread over the longest wait.
    this.toldAt = Math.max(this.toldAt, now) + this.intervalMs;
    const waitMs = this.toldAt - now;
    return Math.ceil(waitMs <= MAX_WAIT_MS ? waitMs : this.intervalMs + this.random.integer(MAX_WAIT_MS));
  }
}
