/** Those who wait for something to happen, each for as long as it has time. */
export class Waiters {
  readonly #all = new Set<() => void>();

  /** Resolves when it happens, or the time is over. @param until by `performance.now()` */
  wait(until: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(until) ? setTimeout(() => done(), until - performance.now()) : undefined;
      const done = (): void => {
        clearTimeout(timer);
        this.#all.delete(done);
        resolve();
      };
      this.#all.add(done);
    });
  }

  /** It has happened. They go on in the order of their coming. */
  release(): void {
    for (const done of this.#all) done();
  }
}
