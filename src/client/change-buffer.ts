/** Reorder buffer for room events, by revision: an early event is held until all events before it have arrived. */
import type { CloseReason } from '../protocol/index.ts';
import type { RoomChange } from './room-reducer.ts';

/** Bounds memory against a faulty server; far above the number of events that can overtake a snapshot. */
export const MAX_HELD = 500;

export class ChangeBuffer {
  #held: RoomChange[] = [];

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** The reason in a held `room:closed` event; undefined without one. */
  get closeReason(): CloseReason | undefined {
    for (const { name, body } of this.#held) if (name === 'room:closed') return body.reason;
    return undefined;
  }

  add(change: RoomChange): void {
    this.#held.push(change);
    if (this.#held.length > MAX_HELD) this.#held.shift();
  }

  /** Takes out the event that follows `rev`, and drops those up to `rev`. */
  takeAfter(rev: number): RoomChange | undefined {
    this.#held = this.#held.filter(({ body }) => body.rev > rev);
    const index = this.#held.findIndex(({ body }) => body.rev === rev + 1);
    return index < 0 ? undefined : this.#held.splice(index, 1)[0];
  }

  clear(): void {
    this.#held = [];
  }
}
