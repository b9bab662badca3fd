/** One element for each key, in the order of the keys: created once, updated in place, removed at the end. */

export interface KeyedItem {
  readonly element: HTMLElement;
  /** Releases the element's resources. */
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

  /** Removes all that are not in `keys`. Elements are never moved: a moved video stops playing. */
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
