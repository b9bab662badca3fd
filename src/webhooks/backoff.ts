/** When a delivery that has failed is tried again. */
import { backoffMs, jittered } from '../support/backoff.ts';
import type { Chance } from '../support/chance.ts';

const BACKOFF = { firstMs: 1_000, maxMs: 60 * 60 * 1_000 };
/** Up to a quarter less: rooms that fail together are not all retried together. */
const JITTER = { from: 0.75, to: 1 };

/**
 * 1 s, 2 s, 4 s, up to 1 h; later when the receiver asks for it, but not beyond that hour.
 *
 * @param failures how often it has failed, this time included
 * @param askedMs what the receiver asks for
 */
export function retryMs(failures: number, askedMs: number | undefined, chance: Chance): number {
  const ms = jittered(backoffMs(failures - 1, BACKOFF), JITTER, chance);
  return Math.max(ms, Math.min(askedMs ?? 0, BACKOFF.maxMs));
}

/** What a Retry-After header asks for, in milliseconds: it holds seconds, or a date. Undefined when it says nothing. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) || at <= now ? undefined : at - now;
}
