/** Maximum delay of a JavaScript timer: with a longer one it fires at once. */
const MAX_MS = 2 ** 31 - 1;

/** Limits an untrusted duration to the range of a timer. @param fallback for anything but a positive number */
export const clampMs = (ms: unknown, fallback = 0): number =>
  typeof ms === 'number' && ms > 0 ? Math.min(ms, MAX_MS) : fallback;
