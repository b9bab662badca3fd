/**
 * The epochs of a shard. The store begins a new one when its state may be that of an earlier instant, or gone: after a
 * restart, a failover, a flush. Then the shard recovers for a while: the nodes restore what they hold.
 */
import type { NodeId } from '../protocol/ids.ts';
import type { Policy, Room } from './room.ts';

export interface Epoch {
  /** Greater than that of any earlier epoch of the shard. */
  readonly number: number;
  readonly since: number;
  readonly recoverUntil: number;
  /** What is done once after the recovery has been done, see `settle` in `tick.ts`. */
  readonly settled: boolean;
  /** The nodes that have restored what they hold. */
  readonly restoredBy: readonly NodeId[];
}

/**
 * Nodes that have lost their connections together with the store are connected again by then: the delay of a reconnect is
 * 0.6 s at most. So the recovery lasts as long even when all nodes that are connected have restored what they hold.
 */
export const RECONNECTED_MS = 1500;

/** More changes than a room can have lost. */
export const LEAP = 1_000_000;

/**
 * A revision leaps from one epoch to another. So no revision is that of two different states, and every client that is told
 * of the new one reads the room again. The time between the epochs is added, because a store may go back to the same state
 * twice: then the revisions that followed the first leap must not follow the second one.
 */
export const leaped = (rev: number, from: number, to: number): number => rev + LEAP + Math.max(0, to - from);

/** The epoch of a store that has never been used: there is nothing to restore. */
export const firstEpoch = (now: number): Epoch => ({
  number: Math.max(1, now),
  since: now,
  recoverUntil: Number.NEGATIVE_INFINITY,
  settled: true,
  restoredBy: [],
});

export const nextEpoch = (last: Epoch, now: number, { recoveryMs }: Policy): Epoch => ({
  number: Math.max(last.number + 1, now),
  since: now,
  recoverUntil: now + recoveryMs,
  settled: false,
  restoredBy: [],
});

/** More joins than can have been lost: a member that joins before a lost one is restored does not get its number. */
export const SEQ_LEAP = 1000;

/** How long the shard still recovers. */
export const recoveringFor = ({ recoverUntil }: Epoch, now: number): number => Math.max(0, recoverUntil - now);

/** Brings a room into the epoch, and the numbers of its seats: the scripts do this to every room that they load. */
export function leapInto(room: Room, epoch: number): Room {
  if (room.epoch === epoch) return room;
  const rev = leaped(room.rev, room.epoch, epoch);
  return { ...room, rev, leapedTo: rev, epoch, nextSeq: room.nextSeq + SEQ_LEAP };
}

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
