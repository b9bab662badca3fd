/** When a delivery that has failed is tried again. */
import type { Random } from '../support/random.ts';

const FIRST_MS = 1_000;
const MOST_MS = 60 * 60 * 1_000;
/** Up to a quarter less, by chance: rooms that fail together do not all come back together. */
const JITTER = 0.25;

/**
 * 1 s, 2 s, 4 s, up to 1 h; later when the receiver asks for it, but not beyond that hour.
 *
 * @param failures how often it has failed, this time included
 * @param askedMs what the receiver asks for
 */
export function retryMs(failures: number, askedMs: number | undefined, random: Random): number {
  const full = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 30), MOST_MS);
  const ms = full - random.integer(Math.ceil(full * JITTER));
  return Math.max(ms, Math.min(askedMs ?? 0, MOST_MS));
}

/** What a Retry-After header asks for, in milliseconds: it holds seconds, or a date. Undefined when it says nothing. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) || at <= now ? undefined : at - now;
}
