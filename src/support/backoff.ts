/** Exponential back-off with a cap, and jitter. */
import type { Chance } from './chance.ts';

export interface Backoff {
  /** The wait before attempt 0. */
  readonly firstMs: number;
  /** The longest wait. */
  readonly maxMs: number;
  /** Each wait is this many times the one before; 2 when left out. */
  readonly factor?: number;
}

/** @param attempt 0 for the first */
export function backoffMs(attempt: number, { firstMs, maxMs, factor = 2 }: Backoff): number {
  return Math.min(maxMs, firstMs * factor ** attempt);
}

/**
 * A random wait between `from` and `to` times `ms`, in whole milliseconds: parties that failed together do not try again
 * together. From 0 to 1 is full jitter.
 */
export function jittered(ms: number, { from, to }: { from: number; to: number }, chance: Chance): number {
  return Math.ceil(ms * to) - Math.floor(ms * (to - from) * chance.fraction());
}
