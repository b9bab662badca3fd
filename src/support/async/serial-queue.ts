/**
 * Runs one task at a time, in the order of the calls; a task that fails does not stop the next one. The first task of an
 * idle queue starts at once, in the caller's own turn. A class, because every connection has one: an object with
 * functions and a getter of its own weighs half a kilobyte more.
 */
export class SerialQueue {
  private last: Promise<unknown> | undefined;
  private unfinished = 0;

  /** Tasks that run or wait. */
  get length(): number {
    return this.unfinished;
  }

  run<Result>(task: () => Promise<Result>): Promise<Result> {
    this.unfinished += 1;
    const outcome = this.last === undefined ? task() : this.last.then(task, task);
    this.last = outcome;
    const forget = () => {
      this.unfinished -= 1;
      // An idle queue retains nothing, not even its last result.
      if (this.last === outcome) this.last = undefined;
    };
    outcome.then(forget, forget);
    return outcome;
  }
}
