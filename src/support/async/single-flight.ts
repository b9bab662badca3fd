/**
 * Single flight: one call of `work` at a time, and its result is shared. Callers that come while one is under way share
 * the next one, because the result on its way may be older than what they have just learned.
 */
export function singleFlight<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<Result> | undefined;
  let next: Promise<Result> | undefined;
  const start = (): Promise<Result> => {
    next = undefined;
    current = work().finally(() => {
      current = undefined;
    });
    return current;
  };
  return () => {
    if (current === undefined) return start();
    next ??= current.then(start, start);
    return next;
  };
}
