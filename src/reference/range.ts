/** Ranges of consecutive numbers of one year. */

export interface Range {
  readonly year: number;
  readonly first: number;
  readonly last: number;
}

export const sizeOf = ({ first, last }: Range): number => last - first + 1;

/** Splits off up to `count` numbers at the front. */
export function split(range: Range, count: number): readonly [front: Range | undefined, rest: Range | undefined] {
  if (count <= 0) return [undefined, range];
  if (count >= sizeOf(range)) return [range, undefined];
  const cut = range.first + count;
  return [
    { ...range, last: cut - 1 },
    { ...range, first: cut },
  ];
}

/** Ranges owned by this process. Numbers that are taken out are never put back. */
export class HeldRanges {
  #ranges: Range[] = [];

  add(ranges: readonly Range[]): void {
    this.#ranges.push(...ranges);
  }

  size(year: number): number {
    return this.#ranges.reduce((sum, range) => (range.year === year ? sum + sizeOf(range) : sum), 0);
  }

  /** Takes `count` numbers, or none when there are fewer. Numbers of past years are dropped: gaps are allowed. */
  take(count: number, year: number): Range[] | undefined {
    if (this.size(year) < count) return undefined;
    const taken: Range[] = [];
    const rest: Range[] = [];
    let missing = count;
    for (const range of this.#ranges) {
      if (range.year < year) continue;
      const [front, back] = range.year === year ? split(range, missing) : [undefined, range];
      if (front !== undefined) taken.push(front);
      if (front !== undefined) missing -= sizeOf(front);
      if (back !== undefined) rest.push(back);
    }
    this.#ranges = rest;
    return taken;
  }
}

/** Of UTC. */
export const yearOf = (instant: number): number => new Date(instant).getUTCFullYear();

/** The first instant of a year, in UTC. */
export const startOf = (year: number): number => Date.UTC(year, 0);
