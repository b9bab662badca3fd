/** Runs what is given to it one after the other, in that order: what changes a session's seat never overlaps. */
export interface Lane {
  /** How much is under way or waiting. */
  readonly length: number;
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function createLane(): Lane {
  let last: Promise<unknown> | undefined;
  let length = 0;
  return {
    get length() {
      return length;
    },
    run(work) {
      length += 1;
      const turn = last === undefined ? work() : last.then(work, work);
      last = turn;
      const forget = () => {
        length -= 1;
        // An idle lane holds nothing, not even its last result.
        if (last === turn) last = undefined;
      };
      turn.then(forget, forget);
      return turn;
    },
  };
}
