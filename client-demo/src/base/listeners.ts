/** Listeners for a change without a body: they read the new state themselves. */
export class Listeners {
  readonly #all = new Set<() => void>();

  /** @returns a function that removes it. */
  add(listener: () => void): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  tell(): void {
    for (const listener of this.#all) listener();
  }
}
