/** One semaphore per key; a key without tasks takes no memory. */

interface Semaphore {
  running: number;
  /** Tasks that run or wait. */
  unfinished: number;
  readonly waiting: (() => void)[];
}

export class KeyedSemaphore {
  readonly #limitOf: (key: string) => number;
  readonly #semaphores = new Map<string, Semaphore>();

  /** @param limitOf tasks of a key that may run at once, looked at whenever one could start; at least one always may */
  constructor(limitOf: (key: string) => number) {
    this.#limitOf = limitOf;
  }

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const semaphore = this.#semaphores.get(key) ?? { running: 0, unfinished: 0, waiting: [] };
    this.#semaphores.set(key, semaphore);
    semaphore.unfinished += 1;
    while (semaphore.running >= this.#limit(key)) {
      await new Promise<void>((resolve) => semaphore.waiting.push(resolve));
    }
    semaphore.running += 1;
    try {
      return await task();
    } finally {
      semaphore.running -= 1;
      semaphore.unfinished -= 1;
      // As many as are free now: the limit may have changed with the task.
      for (const retry of semaphore.waiting.splice(0, this.#limit(key) - semaphore.running)) retry();
      if (semaphore.unfinished === 0) this.#semaphores.delete(key);
    }
  }

  #limit(key: string): number {
    return Math.max(1, this.#limitOf(key));
  }
}
