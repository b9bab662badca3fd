/**
 * Bounds the messages of a room as a whole: the bytes that they make the server send, over all members. The rate limit of
 * each connection does not bound that: every member of a large room may use its own, and each message goes to all of them.
 */
import type { Clock } from '../../support/clock.ts';

/** One per room of a node. It holds what may be sent within one second. */
export class RoomTraffic {
  private left = Number.POSITIVE_INFINITY;
  private refilledAt = 0;

  /**
   * Takes the bytes that a message makes the server send; a message that is larger than all of it waits for all of it.
   *
   * @returns 0, or the milliseconds until there is room for it
   */
  take(bytes: number, bytesPerSecond: number, clock: Pick<Clock, 'monotonic'>): number {
    const now = clock.monotonic();
    this.left = Math.min(bytesPerSecond, this.left + ((now - this.refilledAt) * bytesPerSecond) / 1000);
    this.refilledAt = now;
    const missing = Math.min(bytes, bytesPerSecond) - this.left;
    if (missing > 0) return Math.ceil((missing * 1000) / bytesPerSecond);
    this.left -= bytes;
    return 0;
  }
}
