/** When a failed delivery is retried. */
import { backoffMs, jittered } from '../support/backoff.ts';
import type { Chance } from '../support/chance.ts';

const BACKOFF = { firstMs: 1_000, maxMs: 60 * 60 * 1_000 };
/** Up to a quarter less: rooms that fail together are not all retried together. */
const JITTER = { from: 0.75, to: 1 };

/**
 * 1 s, 2 s, 4 s, up to 1 h; longer when the receiver asks for it, up to the same maximum.
 *
 * @param failures failed attempts, this one included
 * @param askedMs the receiver's Retry-After, in milliseconds
 */
export function retryDelayMs(failures: number, askedMs: number | undefined, chance: Chance): number {
  const ms = jittered(backoffMs(failures - 1, BACKOFF), JITTER, chance);
  return Math.max(ms, Math.min(askedMs ?? 0, BACKOFF.maxMs));
}

/** A Retry-After header, which contains seconds or a date, in milliseconds; undefined when it is missing or invalid. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  if (!HTTP_DATE.test(header)) return undefined;
  const at = Date.parse(header);
  return Number.isNaN(at) || at <= now ? undefined : at - now;
}

/** The one form in which a date may be sent (RFC 9110). `Date.parse` alone finds a year in `at most 2099` or `1.5e3`. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
