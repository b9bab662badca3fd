/**
 * Does what is given to it one after the other, in that order, however the one before ended. A class: every connection
 * has one, and an object with functions and a getter of its own weighs half a kilobyte more.
 */
export class Turns {
  private last: Promise<unknown> | undefined;
  private waiting = 0;

  /** How much is under way or waiting. */
  get length(): number {
    return this.waiting;
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    this.waiting += 1;
    const turn = this.last === undefined ? work() : this.last.then(work, work);
    this.last = turn;
    const forget = () => {
      this.waiting -= 1;
      // Who is idle holds nothing, not even its last result.
      if (this.last === turn) this.last = undefined;
    };
    turn.then(forget, forget);
    return turn;
  }
}
