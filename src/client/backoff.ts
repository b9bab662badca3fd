/** Back-off with full jitter. */
import { backoffMs, jittered } from '../support/backoff.ts';
import type { Chance } from '../support/chance.ts';

/** The waits between attempts to connect. */
export interface Backoff {
  /** Milliseconds that the first wait is at most; doubled with every attempt. */
  readonly baseMs: number;
  /** Milliseconds that no wait is longer than. */
  readonly maxMs: number;
}

export const DEFAULT_BACKOFF: Backoff = { baseMs: 500, maxMs: 15_000 };

/** Many clients that lose one server together come back spread over the whole wait. */
const FULL_JITTER = { from: 0, to: 1 };

/**
 * @param attempt 0 for the first
 * @param minMs the wait that the server asks for; the jitter is added, or all clients with the same wait would return together
 */
export function delayBefore(attempt: number, { baseMs, maxMs }: Backoff, chance: Chance, minMs = 0): number {
  return minMs + jittered(backoffMs(attempt, { firstMs: baseMs, maxMs }), FULL_JITTER, chance);
}
