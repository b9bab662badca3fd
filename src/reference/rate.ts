/** How many numbers are asked for in a millisecond, as of late. */

/** What was asked for this long ago counts for a third. */
const MEMORY_MS = 30_000;

export class Rate {
  #perMs = 0;
  #at = 0;

  note(count: number, now: number): void {
    this.#perMs = this.at(now) + count / MEMORY_MS;
    this.#at = now;
  }

  at(now: number): number {
    return this.#perMs * Math.exp(-Math.max(0, now - this.#at) / MEMORY_MS);
  }
}
