/** Room events ordered by revision: events that came early are held until those before them have arrived. */
import type { CloseReason } from '../protocol/index.ts';
import type { RoomChange } from './room-reducer.ts';

/** More than can overtake a snapshot. It bounds the memory that a faulty server can fill. */
export const MAX_HELD = 500;

export class ChangeBuffer {
  #held: RoomChange[] = [];

  get isEmpty(): boolean {
    return this.#held.length === 0;
  }

  /** Why the room was closed, if that event is among those held. */
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
