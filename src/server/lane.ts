/** Runs what is given to it one after the other, in that order: what changes a session's seat never overlaps. */
export interface Lane {
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function createLane(): Lane {
  let last: Promise<unknown> | undefined;
  return {
    run(work) {
      const turn = last === undefined ? work() : last.then(work, work);
      last = turn;
      const forget = () => {
        // An idle lane holds nothing, not even its last result.
        if (last === turn) last = undefined;
      };
      turn.then(forget, forget);
      return turn;
    },
  };
}
