/** The longest that a timer can wait: it fires at once when it is told more. */
const MAX_MS = 2 ** 31 - 1;

/** A duration that somebody else has named, as a timer can use it. @param otherwise where it is none */
export const clampMs = (ms: unknown, otherwise = 0): number =>
  typeof ms === 'number' && ms > 0 ? Math.min(ms, MAX_MS) : otherwise;
