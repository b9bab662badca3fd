/** Repeatable chance: one seed gives one sequence. */

export interface Seeded {
  /** At least 0 and less than 1. */
  fraction(): number;
  /** At least `from` and less than `to`. */
  between(from: number, to: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  pick<Item>(items: readonly Item[]): Item | undefined;
  /** Another sequence, repeatable as well. */
  fork(): Seeded;
}

/** mulberry32: 32 bits of state are enough to choose faults. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)];
  return {
    fraction: next,
    between: (from, to) => from + next() * (to - from),
    pick: pick as Seeded['pick'], // a list with a first item gives one
    fork: () => seeded(Math.floor(next() * 2 ** 32)),
  };
}
