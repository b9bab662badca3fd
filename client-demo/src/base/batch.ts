/** Collects items and delivers them once per animation frame. */

/** A hidden page has no animation frames. */
const HIDDEN_MS = 250;

export class Batch<Item> {
  readonly #most: number;
  readonly #flush: (items: readonly Item[]) => void;
  #items: Item[] = [];
  #isDue = false;

  /** @param most the maximum; beyond it, the oldest are dropped. */
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
