/**
 * Rate limit of wrong codes, by address. A code is a locator and no credential, so nobody may try them all: an address
 * has some misses free, then waits twice as long after each further one. Hits are free: a class behind one address gets in.
 */
import { KeyedSemaphore } from '../../support/async/keyed-semaphore.ts';
import { backoffMs } from '../../support/backoff.ts';
import type { Clock } from '../../support/clock.ts';
import { Generations } from './generations.ts';

const WAIT = { firstMs: 1000, maxMs: 10 * 60_000 };
/** The misses of an address are forgiven after this long without another. */
const FORGIVEN_AFTER_MS = 15 * 60_000;

/** The address has missed too often to be answered now. */
export interface Throttled {
  readonly ok: false;
  readonly reason: 'RATE_LIMITED';
  readonly retryAfterMs: number;
}

interface Lookup {
  readonly ok: boolean;
  readonly reason?: string;
}

/** By the monotonic clock: an operator who sets the time must not prolong a wait. */
interface Misses {
  readonly count: number;
  readonly lastAt: number;
  readonly waitUntil: number;
}

export class GuessLimiter {
  private readonly freeMisses: number;
  private readonly clock: Clock;
  private readonly missReason: string;
  private readonly lookups: KeyedSemaphore;
  private readonly misses: Generations<Misses>;

  /** @param missReason the refusal that counts as a miss. */
  constructor(freeMisses: number, clock: Clock, missReason = 'ROOM_NOT_FOUND') {
    this.freeMisses = freeMisses;
    this.clock = clock;
    this.missReason = missReason;
    this.misses = new Generations(clock, FORGIVEN_AFTER_MS);
    this.lookups = new KeyedSemaphore((address) => freeMisses - (this.missesOf(address)?.count ?? 0));
  }

  /**
   * Runs a look-up for an address, and counts a miss. Look-ups of one address run at the same time only as far as free
   * misses are left, the others wait: a hundred codes asked for at once are not answered before the first miss counts.
   */
  attempt<Found extends Lookup>(address: string, lookup: () => Promise<Found>): Promise<Found | Throttled> {
    return this.lookups.run(address, async () => {
      const retryAfterMs = this.waitOf(address);
      if (retryAfterMs > 0) return { ok: false, reason: 'RATE_LIMITED', retryAfterMs };
      const found = await lookup();
      if (found.reason === this.missReason) this.recordMiss(address);
      return found;
    });
  }

  /** Milliseconds until the address may try again; 0 for now. */
  waitOf(address: string): number {
    const waitUntil = this.missesOf(address)?.waitUntil;
    return waitUntil === undefined ? 0 : Math.max(0, Math.ceil(waitUntil - this.clock.monotonic()));
  }

  recordMiss(address: string): void {
    const now = this.clock.monotonic();
    const count = (this.missesOf(address)?.count ?? 0) + 1;
    this.misses.set(address, { count, lastAt: now, waitUntil: now + waitAfter(count - this.freeMisses) });
  }

  private missesOf(address: string): Misses | undefined {
    const misses = this.misses.get(address);
    return misses !== undefined && misses.lastAt + FORGIVEN_AFTER_MS > this.clock.monotonic() ? misses : undefined;
  }
}

const waitAfter = (missesOverFree: number): number => (missesOverFree < 0 ? 0 : backoffMs(missesOverFree, WAIT));
