/**
 * Rejects when a promise has not settled in time. node-redis has time-outs only for commands that are not yet written, so
 * a frozen Redis would hold the caller for ever. A missed deadline means "outcome unknown", not "did not happen".
 */
export function withDeadline<T>(promise: Promise<T>, ms: number, makeError: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(makeError()), ms);
    // Both outcomes have a listener here, so a rejection after the deadline is not an unhandled one.
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
