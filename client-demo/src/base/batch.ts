/** Collects what comes in, and hands it over once in a frame, however much it is. */

/** A page that is not on the screen has no frames. */
const HIDDEN_MS = 250;

export class Batch<Item> {
  readonly #most: number;
  readonly #flush: (items: readonly Item[]) => void;
  #items: Item[] = [];
  #isDue = false;

  /** @param most of more, the oldest are dropped. */
  constructor(most: number, flush: (items: readonly Item[]) => void) {
    this.#most = most;
    this.#flush = flush;
  }

  add(item: Item): void {
    this.#items.push(item);
    if (this.#items.length > this.#most) this.#items.shift();
    if (this.#isDue) return;
    this.#isDue = true;
    if (document.visibilityState === 'hidden') setTimeout(() => this.#handOver(), HIDDEN_MS);
    else requestAnimationFrame(() => this.#handOver());
  }

  clear(): void {
    this.#items = [];
  }

  #handOver(): void {
    this.#isDue = false;
    const items = this.#items;
    this.#items = [];
    if (items.length > 0) this.#flush(items);
  }
}
