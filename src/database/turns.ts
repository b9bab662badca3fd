/** One after the other: what shares a single connection must not come into the middle of another's transaction. */

/** Does the work when all that was handed in before is done, however that ended. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}
