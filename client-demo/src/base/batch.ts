/** Collects items and delivers them once per animation frame. */

/** Delay in a hidden page, which has no animation frames. */
const HIDDEN_MS = 250;

export class Batch<Item> {
  readonly #maxItems: number;
  readonly #flush: (items: readonly Item[]) => void;
  #items: Item[] = [];
  #isDue = false;

  /** @param maxItems beyond it, the oldest are dropped. */
  constructor(maxItems: number, flush: (items: readonly Item[]) => void) {
    this.#maxItems = maxItems;
    this.#flush = flush;
  }

  add(item: Item): void {
    this.#items.push(item);
    if (this.#items.length > this.#maxItems) this.#items.shift();
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
