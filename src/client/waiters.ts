/** Callers that wait for one event, each with its own deadline. */
import type { PageClock } from './runtime.ts';

export class Waiters {
  readonly #clock: PageClock;
  readonly #all = new Set<() => void>();

  constructor(clock: PageClock) {
    this.#clock = clock;
  }

  /** Resolves at the event or at the deadline, whichever is first. @param until by the monotonic clock */
  wait(until: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#clock.after(until - this.#clock.monotonic(), () => done());
      const done = (): void => {
        stop();
        this.#all.delete(done);
        resolve();
      };
      this.#all.add(done);
    });
  }

  /** Resolves all callers, first come first served. */
  release(): void {
    for (const done of this.#all) done();
  }
}
