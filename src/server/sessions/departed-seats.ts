/**
 * The seats that this node has seen end. A store that has gone back to an earlier state has them again, and would keep them
 * for the grace, because nobody holds them.
 */
import type { RoomRef, UserId } from '../../protocol/ids.ts';
import type { SeatKey } from '../../room/commands.ts';
import { shardOf } from '../../room/pool.ts';
import type { Clock } from '../../support/clock.ts';

/** Longer than any loss of writes that leaves something of the store. */
const KEPT_MS = 60_000;
/** Beyond it the oldest is forgotten: a few megabytes at most. */
const MAX_SEATS = 10_000;

export class DepartedSeats {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** In the order of departure. */
  readonly #seats = new Map<string, { readonly key: SeatKey; readonly until: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  add({ code, ref, userId, session }: SeatKey): void {
    const now = this.#clock.monotonic();
    const name = nameOf(ref, userId);
    this.#seats.delete(name);
    this.#seats.set(name, { key: { code, ref, userId, session }, until: now + KEPT_MS });
    for (const [oldest, { until }] of this.#seats) {
      if (until > now && this.#seats.size <= MAX_SEATS) break;
      this.#seats.delete(oldest);
    }
  }

  /** The user has a seat in that room again, perhaps with the same session. */
  forget(ref: RoomRef, userId: UserId): void {
    this.#seats.delete(nameOf(ref, userId));
  }

  ofShard(shard: number): SeatKey[] {
    const now = this.#clock.monotonic();
    return [...this.#seats.values()]
      .filter(({ key, until }) => until > now && shardOf(key.code) === shard)
      .map(({ key }) => key);
  }
}

const nameOf = (ref: RoomRef, userId: UserId): string => `${ref} ${userId}`;
