/**
 * Bounds what a room makes a node send as a whole: the bytes of its messages and events, over all members. The rate limit of
 * each connection does not bound that: every member of a large room may use its own, and each message goes to all of them.
 *
 * It is a bucket that holds what may be sent within one second. Half of it is kept for senders that have not had their
 * share within this second, so that one member cannot mute the others.
 */
import type { UserId } from '../../protocol/ids.ts';
import type { Clock } from '../../support/clock.ts';

/** The part of the budget that a member is sure of, and that it may use beyond the half that all compete for. */
const SHARE = 1 / 8;
const RESERVED = 1 / 2;
/** Shares are counted anew after this long. */
const WINDOW_MS = 1000;
/** What events cost is known only when they have happened: the debt is bounded, so that a room is never mute for long. */
const MAX_DEBT = 4;

/** One per room of a node. */
export class RoomTraffic {
  private left = Number.POSITIVE_INFINITY;
  private refilledAt = 0;
  private windowBegan = Number.NEGATIVE_INFINITY;
  /** Bytes by sender, in this window. Only rooms in which somebody sends have it. */
  private used: Map<UserId, number> | undefined;

  /**
   * Takes what a message makes the server send, if there is room for it.
   *
   * @returns 0, or the milliseconds until there is
   */
  take(sender: UserId, bytes: number, bytesPerSecond: number, clock: Pick<Clock, 'monotonic'>): number {
    const waitMs = this.wait(sender, bytes, bytesPerSecond, clock);
    if (waitMs === 0) this.spend(sender, bytes);
    return waitMs;
  }

  /** As `take`, without taking. What is larger than all of the budget waits for all of it. */
  wait(sender: UserId, bytes: number, bytesPerSecond: number, clock: Pick<Clock, 'monotonic'>): number {
    const now = this.refill(bytesPerSecond, clock);
    const used = this.used?.get(sender) ?? 0;
    const kept = used > 0 && used + bytes > bytesPerSecond * SHARE ? bytesPerSecond * RESERVED : 0;
    const missing = Math.min(bytes + kept, bytesPerSecond) - this.left;
    if (missing <= 0) return 0;
    const refilledInMs = Math.ceil((missing * 1000) / bytesPerSecond);
    return kept === 0 ? refilledInMs : Math.min(refilledInMs, Math.ceil(this.windowBegan + WINDOW_MS - now));
  }

  /** Counts what is sent in any case. @param sender null: nobody of the room */
  charge(sender: UserId | null, bytes: number, bytesPerSecond: number, clock: Pick<Clock, 'monotonic'>): void {
    this.refill(bytesPerSecond, clock);
    this.spend(sender, bytes);
    this.left = Math.max(this.left, -MAX_DEBT * bytesPerSecond);
  }

  private refill(bytesPerSecond: number, clock: Pick<Clock, 'monotonic'>): number {
    const now = clock.monotonic();
    this.left = Math.min(bytesPerSecond, this.left + ((now - this.refilledAt) * bytesPerSecond) / 1000);
    this.refilledAt = now;
    if (now - this.windowBegan >= WINDOW_MS) {
      this.windowBegan = now;
      this.used?.clear();
    }
    return now;
  }

  private spend(sender: UserId | null, bytes: number): void {
    this.left -= bytes;
    if (sender === null) return;
    this.used ??= new Map();
    this.used.set(sender, (this.used.get(sender) ?? 0) + bytes);
  }
}
