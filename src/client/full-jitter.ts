/** Exponential back-off with full jitter. */
import { backoffMs, jittered } from '../support/backoff.ts';
import type { Chance } from '../support/chance.ts';

/** Back-off between attempts to connect. */
export interface Backoff {
  /** Maximum of the first wait in milliseconds; doubled with every attempt. */
  readonly baseMs: number;
  /** Maximum of any wait in milliseconds. */
  readonly maxMs: number;
}

export const DEFAULT_BACKOFF: Backoff = { baseMs: 500, maxMs: 15_000 };

/** Clients that lose a server at the same time reconnect spread over the whole wait. */
const FULL_JITTER = { from: 0, to: 1 };

/**
 * @param attempt 0 for the first
 * @param minMs the wait demanded by the server. The jitter is added to it: clients with the same wait stay spread
 */
export function fullJitterMs(attempt: number, { baseMs, maxMs }: Backoff, chance: Chance, minMs = 0): number {
  return minMs + jittered(backoffMs(attempt, { firstMs: baseMs, maxMs }), FULL_JITTER, chance);
}
