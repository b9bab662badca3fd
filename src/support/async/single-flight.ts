/**
 * Single flight: one call of `work` at a time, and its result is shared. Callers that come while one is under way share
 * the next one, because the result on its way may be older than what they have just learned.
 */
export function singleFlight<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let current: Promise<Result> | undefined;
  let next: Promise<Result> | undefined;
  const start = (): Promise<Result> => {
    next = undefined;
    const flight = work();
    // Registered before any `next`: whoever asks between the end of this flight and the begin of the next one shares that.
    const land = (): void => {
      if (next === undefined) current = undefined;
    };
    flight.then(land, land);
    current = flight;
    return flight;
  };
  return () => {
    if (current === undefined) return start();
    next ??= current.then(start, start);
    return next;
  };
}
