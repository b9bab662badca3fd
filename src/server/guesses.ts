/**
 * Codes are locators, not credentials, so nobody may walk through them: an address has a few wrong codes free, then
 * waits, twice as long after each further one. Right codes cost nothing: a class behind one address gets in.
 */
import type { Clock } from '../support/clock.ts';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 10 * 60_000;
/** An address that has not missed for this long is forgiven. */
const FORGIVEN_AFTER_MS = 15 * 60_000;
/** More addresses than this and the one that missed longest ago is forgotten: memory is bounded. */
const MOST_ADDRESSES = 100_000;

export interface Guesses {
  /** Milliseconds that the address has to wait before its next try; 0 when it may. */
  waitOf(address: string): number;
  miss(address: string): void;
}

export function createGuesses(freeMisses: number, clock: Clock): Guesses {
  // In the order of their last miss: a miss moves its address to the end.
  const addresses = new Map<string, { misses: number; lastAt: number; waitUntil: number }>();

  const sweep = (now: number) => {
    for (const [address, { lastAt }] of addresses) {
      if (lastAt + FORGIVEN_AFTER_MS > now && addresses.size <= MOST_ADDRESSES) return;
      addresses.delete(address);
    }
  };

  return {
    waitOf: (address) => Math.max(0, (addresses.get(address)?.waitUntil ?? 0) - clock.now()),
    miss(address) {
      const now = clock.now();
      sweep(now);
      const misses = (addresses.get(address)?.misses ?? 0) + 1;
      addresses.delete(address);
      addresses.set(address, { misses, lastAt: now, waitUntil: now + waitAfter(misses - freeMisses) });
    },
  };
}

const waitAfter = (missesOverFree: number): number =>
  missesOverFree < 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** missesOverFree, LONGEST_WAIT_MS);
