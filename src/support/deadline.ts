import type { Clock } from './clock.ts';

/**
 * Rejects when a promise has not settled in time. node-redis has time-outs only for commands that are not yet written, so
 * a frozen Redis would hold the caller for ever. A missed deadline means "outcome unknown", not "did not happen".
 */
export function withDeadline<T>(
  promise: Promise<T>,
  ms: number,
  makeError: () => Error,
  clock: Pick<Clock, 'after'> = wallClock,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = clock.after(ms, () => reject(makeError()));
    // Both outcomes have a listener here, so a rejection after the deadline is not an unhandled one.
    promise.then(
      (value) => {
        stop();
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error);
      },
    );
  });
}

/** Unlike the system's clock, its timer keeps the process alive: a program must not end before its deadline has come. */
const wallClock: Pick<Clock, 'after'> = {
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
