/** How long to wait before the next attempt. */

export interface Backoff {
  /** Milliseconds that the first wait is at most; doubled with every attempt. */
  readonly baseMs: number;
  /** Milliseconds that no wait is longer than. */
  readonly maxMs: number;
}

export const DEFAULT_BACKOFF: Backoff = { baseMs: 500, maxMs: 15_000 };

/**
 * Full jitter: of many clients that lost one server, no two come back at the same moment, and all of them are spread
 * over the whole wait.
 *
 * @param attempt 0 for the first
 * @param leastMs what the server asks for; the jitter comes on top, or those it asks all come back together
 */
export function delayBefore(attempt: number, { baseMs, maxMs }: Backoff, leastMs = 0): number {
  return leastMs + Math.random() * Math.min(maxMs, baseMs * 2 ** attempt);
}
