/**
 * The codes that this node has seen released. A store that has lost its state has lost which codes are cooling, and would
 * give a code to a new room while people still have it from the last one.
 */
import type { RoomCode } from '../../protocol/ids.ts';
import { shardOf } from '../../room/pool.ts';
import type { Clock } from '../../support/clock.ts';

/** Beyond it the oldest is forgotten: a few megabytes at most. */
const MAX_CODES = 50_000;

export class ReleasedCodes {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #cooldownMs: number;
  /** When each has cooled, by this node's monotonic clock; in the order of release. */
  readonly #until = new Map<RoomCode, number>();

  constructor(clock: Pick<Clock, 'monotonic'>, cooldownMs: number) {
    this.#clock = clock;
    this.#cooldownMs = cooldownMs;
  }

  add(code: RoomCode): void {
    const now = this.#clock.monotonic();
    this.#until.delete(code);
    this.#until.set(code, now + this.#cooldownMs);
    for (const [oldest, until] of this.#until) {
      if (until > now && this.#until.size <= MAX_CODES) break;
      this.#until.delete(oldest);
    }
  }

  /** The codes of a shard that are still cooling, and for how long. */
  coolingIn(shard: number): (readonly [code: RoomCode, forMs: number])[] {
    const now = this.#clock.monotonic();
    return [...this.#until]
      .filter(([code, until]) => until > now && shardOf(code) === shard)
      .map(([code, until]) => [code, Math.ceil(until - now)]);
  }
}
