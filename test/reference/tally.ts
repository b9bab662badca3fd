/** Bitmap of the issued numbers, and a count of repetitions. */
import type { Run } from './worker-process.ts';

export class Tally {
  #bits = new Uint8Array(1 << 20);
  total = 0;
  repeats = 0;

  add([first, last]: Run): void {
    this.#reach(last);
    for (let number = first; number <= last; number += 1) {
      const [index, bit] = [number >>> 3, 1 << (number & 7)];
      const byte = this.#bits[index] ?? 0;
      if ((byte & bit) !== 0) this.repeats += 1;
      this.#bits[index] = byte | bit;
    }
    this.total += last - first + 1;
  }

  /** 128 MB for 2^30 numbers. */
  #reach(number: number): void {
    if (number >= 2 ** 30) throw new RangeError('a number far beyond what was issued');
    const needed = (number >>> 3) + 1;
    if (needed <= this.#bits.length) return;
    const larger = new Uint8Array(2 ** Math.ceil(Math.log2(needed)));
    larger.set(this.#bits);
    this.#bits = larger;
  }
}
