/**
 * The epochs of a shard. The store begins a new one when its state may be that of an earlier instant, or gone: after a
 * restart, a failover, a flush. Then the shard recovers for a while: the nodes restore what they hold.
 */
import type { Policy, Room } from './room.ts';

export interface Epoch {
  /** Greater than that of any earlier epoch of the shard. */
  readonly number: number;
  readonly since: number;
  readonly recoverUntil: number;
  /** What is done once after the recovery has been done, see `settle` in `tick.ts`. */
  readonly settled: boolean;
}

/**
 * A room's revision leaps by so much at the beginning of an epoch, which is more than can have been lost. So no revision is
 * that of two different states, and every client that is told of the new one reads the room again.
 */
export const LEAP = 1_000_000;

/** The epoch of a store that has never been used: there is nothing to restore. */
export const firstEpoch = (now: number): Epoch => ({
  number: 1,
  since: now,
  recoverUntil: Number.NEGATIVE_INFINITY,
  settled: true,
});

export const nextEpoch = (last: Epoch, now: number, { recoveryMs }: Policy): Epoch => ({
  number: Math.max(last.number + 1, now),
  since: now,
  recoverUntil: now + recoveryMs,
  settled: false,
});

/** How long the shard still recovers. */
export const recoveringFor = ({ recoverUntil }: Epoch, now: number): number => Math.max(0, recoverUntil - now);

/** Brings a room into the epoch: the scripts do this to every room that they load. */
export const leapInto = (room: Room, epoch: number): Room =>
  room.epoch === epoch ? room : { ...room, rev: room.rev + LEAP, leapedFrom: room.rev, epoch };

/**
 * Until when rooms of an earlier epoch are restored. A node that comes later has been away for longer than the leases of
 * its members: it was given up, and what has happened since is right.
 */
export const restoresUntil = ({ since }: Epoch, { leaseMs }: Policy): number => since + leaseMs;

export const shiftEpoch = (epoch: Epoch, ms: number): Epoch => ({
  ...epoch,
  since: epoch.since + ms,
  recoverUntil: epoch.recoverUntil + ms,
});
