/** Who wants to know that something has changed. They look for themselves what it is now. */
export class Listeners {
  readonly #all = new Set<() => void>();

  /** @returns what takes it away again. */
  add(listener: () => void): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  tell(): void {
    for (const listener of this.#all) listener();
  }
}
