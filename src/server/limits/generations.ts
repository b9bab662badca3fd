/**
 * A Map whose entries may be forgotten after a while, bounded in memory: two generations, the older one dropped as a whole.
 * Finding and deleting the oldest entry of one large Map would walk over the holes of all entries deleted before.
 */
import type { Clock } from '../../support/clock.ts';

/** Entries of one generation. */
const GENERATION_SIZE = 50_000;

export class Generations<Value> {
  private readonly clock: Pick<Clock, 'monotonic'>;
  private readonly keepMs: number;
  private recent = new Map<string, Value>();
  private older = new Map<string, Value>();
  private began: number;

  /** @param keepMs how long an entry means something after it was set. */
  constructor(clock: Pick<Clock, 'monotonic'>, keepMs: number) {
    this.clock = clock;
    this.keepMs = keepMs;
    this.began = clock.monotonic();
  }

  get(key: string): Value | undefined {
    return this.recent.get(key) ?? this.older.get(key);
  }

  /** Each entry outlives the next `GENERATION_SIZE` others. */
  set(key: string, value: Value): void {
    const now = this.clock.monotonic();
    if (this.recent.size >= GENERATION_SIZE || this.began + this.keepMs <= now) {
      this.older = this.recent;
      this.recent = new Map();
      this.began = now;
    }
    this.recent.set(key, value);
  }
}
