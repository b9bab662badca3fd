/**
 * A bound of our own round an await: node-redis bounds only commands that are not yet written, so a frozen Redis would
 * hold the caller for ever. A missed deadline means "unknown outcome", not "did not happen".
 */
export function withDeadline<T>(promise: Promise<T>, ms: number, makeError: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(makeError()), ms);
    // Both outcomes are taken here, so a rejection after the deadline is nobody's unhandled rejection.
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
