/**
 * Codes are locators, not credentials, so nobody may walk through them: an address has a few wrong codes free, then
 * waits, twice as long after each further one. Right codes cost nothing: a class behind one address gets in.
 */
import type { Clock } from '../support/clock.ts';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 10 * 60_000;
/** An address that has not missed for this long is forgiven. */
const FORGIVEN_AFTER_MS = 15 * 60_000;
/** With so many more addresses, those whose last miss is longest ago are forgotten: memory is bounded. */
const GENERATION_SIZE = 50_000;

export interface Guesses {
  /** Milliseconds that the address has to wait before its next try; 0 when it may. */
  waitOf(address: string): number;
  miss(address: string): void;
}

interface Misses {
  readonly count: number;
  readonly lastAt: number;
  readonly waitUntil: number;
}

export function createGuesses(freeMisses: number, clock: Clock): Guesses {
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

  return {
    waitOf(address) {
      const now = clock.now();
      return Math.max(0, (find(address, now)?.waitUntil ?? 0) - now);
    },
    miss(address) {
      const now = clock.now();
      const count = (find(address, now)?.count ?? 0) + 1;
      turnGeneration(now);
      recent.set(address, { count, lastAt: now, waitUntil: now + waitAfter(count - freeMisses) });
    },
  };
}

const waitAfter = (missesOverFree: number): number =>
  missesOverFree < 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** missesOverFree, LONGEST_WAIT_MS);
