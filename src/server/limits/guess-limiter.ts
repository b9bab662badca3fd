/**
 * Codes are locators, not credentials, so nobody may walk through them: an address has a few wrong codes free, then
 * waits, twice as long after each further one. Right codes cost nothing: a class behind one address gets in.
 */
import { KeyedSemaphore } from '../../support/async/keyed-semaphore.ts';
import { backoffMs } from '../../support/backoff.ts';
import type { Clock } from '../../support/clock.ts';

const WAIT = { firstMs: 1000, maxMs: 10 * 60_000 };
/** An address that has not missed for this long is forgiven. */
const FORGIVEN_AFTER_MS = 15 * 60_000;
/** With so many more addresses, those whose last miss is longest ago are forgotten: memory is bounded. */
const GENERATION_SIZE = 50_000;

/** The address has missed too often to be answered now. */
export interface Throttled {
  readonly ok: false;
  readonly reason: 'RATE_LIMITED';
  readonly retryAfterMs: number;
}

export interface GuessLimiter {
  /**
   * Looks a code up for an address, and counts a miss when no room has it. No more of its look-ups are under way
   * at once than it has misses left: who asks for a hundred codes in one moment is not answered a hundred times before
   * the first miss has been counted. The others wait their turn.
   */
  attempt<Found extends { readonly ok: boolean; readonly reason?: string }>(
    address: string,
    find: () => Promise<Found>,
  ): Promise<Found | Throttled>;
  /** Milliseconds that the address has to wait before its next try; 0 when it may. */
  waitOf(address: string): number;
  recordMiss(address: string): void;
}

interface Misses {
  readonly count: number;
  readonly lastAt: number;
  readonly waitUntil: number;
}

/** @param miss the reason of an answer that counts as one */
export function createGuessLimiter(freeMisses: number, clock: Clock, miss = 'ROOM_NOT_FOUND'): GuessLimiter {
  // Two generations, the older one dropped whole: to find and delete the oldest entry of one large Map, V8 would walk
  // over the holes of all those deleted before.
  let recent = new Map<string, Misses>();
  let older = new Map<string, Misses>();
  let begunAt = clock.now();

  const find = (address: string, now: number): Misses | undefined => {
    const record = recent.get(address) ?? older.get(address);
    return record !== undefined && record.lastAt + FORGIVEN_AFTER_MS > now ? record : undefined;
  };

  const turnGeneration = (now: number) => {
    if (recent.size < GENERATION_SIZE && begunAt + FORGIVEN_AFTER_MS > now) return;
    older = recent;
    recent = new Map();
    begunAt = now;
  };

  const waitOf = (address: string) => {
    const now = clock.now();
    return Math.max(0, (find(address, now)?.waitUntil ?? 0) - now);
  };

  const countMiss = (address: string) => {
    const now = clock.now();
    const count = (find(address, now)?.count ?? 0) + 1;
    turnGeneration(now);
    recent.set(address, { count, lastAt: now, waitUntil: now + waitAfter(count - freeMisses) });
  };

  const asking = new KeyedSemaphore((address) => freeMisses - (find(address, clock.now())?.count ?? 0));
  return {
    waitOf,
    recordMiss: countMiss,
    attempt: (address, look) =>
      asking.run(address, async () => {
        const retryAfterMs = waitOf(address);
        if (retryAfterMs > 0) return { ok: false, reason: 'RATE_LIMITED', retryAfterMs };
        const found = await look();
        if (found.reason === miss) countMiss(address);
        return found;
      }),
  };
}

const waitAfter = (missesOverFree: number): number => (missesOverFree < 0 ? 0 : backoffMs(missesOverFree, WAIT));
