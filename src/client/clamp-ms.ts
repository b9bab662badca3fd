/** The longest delay of a timer: with a longer one it fires at once. */
const MAX_MS = 2 ** 31 - 1;

/** A duration from outside, made safe for a timer. @param fallback for anything that is no positive number */
export const clampMs = (ms: unknown, fallback = 0): number =>
  typeof ms === 'number' && ms > 0 ? Math.min(ms, MAX_MS) : fallback;
