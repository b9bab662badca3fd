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

/**
 * Calls one turn of the event loop after the time: a stalled loop runs its timers before it reads its sockets, so a reply
 * that is there already would miss the deadline. Unlike those of the system's clock, its timers keep the process alive: a
 * program must not end before its deadline.
 */
const wallClock: Pick<Clock, 'after'> = {
  after(ms, call) {
    let immediate: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      immediate = setImmediate(call);
    }, ms);
    return () => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
  },
};
