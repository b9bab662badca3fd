/** One element for each key, in the order in which the keys came: made once, changed in place, taken away in the end. */

export interface KeyedItem {
  readonly element: HTMLElement;
  /** Lets go of what the element holds. */
  release?(): void;
}

export class KeyedList<Item extends KeyedItem> {
  readonly #list: HTMLElement;
  readonly #items = new Map<string, Item>();

  constructor(list: HTMLElement) {
    this.#list = list;
  }

  get all(): readonly Item[] {
    return [...this.#items.values()];
  }

  find(key: string): Item | undefined {
    return this.#items.get(key);
  }

  /** Takes away whatever is not in `keys`. Elements are never moved: a video that is moved stops playing. */
  keep(keys: readonly string[]): void {
    const kept = new Set(keys);
    for (const [key, item] of this.#items) {
      if (kept.has(key)) continue;
      item.release?.();
      item.element.remove();
      this.#items.delete(key);
    }
  }

  get(key: string, create: () => Item): Item {
    const known = this.#items.get(key);
    if (known !== undefined) return known;
    const item = create();
    this.#items.set(key, item);
    this.#list.append(item.element);
    return item;
  }
}
