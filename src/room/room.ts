/** A room as the engines store it, and the view of it that members get. */
import type { NodeId, RoomCode, RoomRef, SessionNumber, UserId } from '../protocol/ids.ts';
import type { Member, RoomInfo, RoomSnapshot } from '../protocol/snapshot.ts';

/** Names a room: the code can be used again by a later room, the ref never. */
export interface RoomKey {
  readonly code: RoomCode;
  readonly ref: RoomRef;
}

/** A member's place in a room. Instants are milliseconds by the store's clock. */
export interface Seat {
  readonly userId: UserId;
  readonly name: string | null;
  readonly mediaType?: string;
  /** JSON text: opaque, never parsed by the rules. */
  readonly metadata?: string;
  /** Order of joining, from 1, never given twice in a room. */
  readonly seq: number;
  readonly joinedAt: number;
  readonly state: 'present' | 'away';
  /** The only session that may change this seat. */
  readonly session: SessionNumber;
  /** The node of the session's connection, or of its last one. */
  readonly nodeId: NodeId;
  /** End of the seat's lease: the seat is removed then unless it is renewed. */
  readonly leaseUntil: number;
}

export interface Room extends RoomKey {
  readonly rev: number;
  readonly name: string | null;
  readonly type: string;
  readonly maxUsers: number;
  readonly access: RoomInfo['access'];
  readonly locked: boolean;
  readonly hostId: UserId | null;
  /** Null when the server's owner created it, without a seat. */
  readonly createdBy: UserId | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When a member last made a request, a heartbeat included. */
  readonly lastActive: number;
  readonly emptySince: number | null;
  readonly nextSeq: number;
  /** JSON text, as in `Seat`. */
  readonly metadata?: string;
  readonly banned: readonly UserId[];
  /** The epoch of the shard in which the room was last written, see `epoch.ts`. */
  readonly epoch: number;
  /**
   * The revision to which it leaped at the beginning of this epoch, or of the copy that its settings are of: of several
   * copies the greatest counts. Null for a room that was created in this epoch.
   */
  readonly leapedTo: number | null;
  /** In the order of `seq`. */
  readonly seats: readonly Seat[];
}

/** What a node keeps of a room, to restore it after the store has lost it: neither its seats nor what the store derives. */
export type RoomCopy = Omit<Room, keyof RoomKey | 'seats' | 'lastActive' | 'emptySince' | 'epoch' | 'leapedTo'>;

/** The durations of leases, rooms and codes, and whether a room outlives its host. The same on every node. */
export interface Policy {
  readonly leaseMs: number;
  readonly graceMs: number;
  readonly idleMs: number;
  readonly emptyMs: number;
  readonly maxAgeMs: number;
  readonly cooldownMs: number;
  /** How long a repeated create with the same idempotency key gives the same room. */
  readonly idempotencyMs: number;
  /** How long a shard whose state may have been lost waits for the nodes to restore it. */
  readonly recoveryMs: number;
  readonly closeOnHostLeave: boolean;
}

/** The next instant at which the room ends unless something happens, and why. */
export function deadline(room: Room, policy: Policy): { at: number; reason: 'aged' | 'empty' | 'idle' } {
  let next: ReturnType<typeof deadline> = { at: room.expiresAt, reason: 'aged' };
  const idleAt = room.lastActive + policy.idleMs;
  if (idleAt < next.at) next = { at: idleAt, reason: 'idle' };
  if (room.emptySince !== null && room.emptySince + policy.emptyMs < next.at) {
    next = { at: room.emptySince + policy.emptyMs, reason: 'empty' };
  }
  return next;
}

/** The same room by a clock that has been set by `ms`. */
export const shiftRoom = (room: Room, ms: number): Room => ({
  ...room,
  createdAt: room.createdAt + ms,
  expiresAt: room.expiresAt + ms,
  lastActive: room.lastActive + ms,
  emptySince: room.emptySince === null ? null : room.emptySince + ms,
  seats: room.seats.map((seat) => ({ ...seat, joinedAt: seat.joinedAt + ms, leaseUntil: seat.leaseUntil + ms })),
});

export function toMember(seat: Seat, hostId: UserId | null): Member {
  return {
    userId: seat.userId,
    name: seat.name,
    role: seat.userId === hostId ? 'host' : 'member',
    state: seat.state,
    seq: seat.seq,
    joinedAt: seat.joinedAt,
    ...(seat.mediaType !== undefined && { mediaType: seat.mediaType }),
    ...(seat.metadata !== undefined && { metadata: JSON.parse(seat.metadata) }),
  };
}

export function toInfo(room: Room): RoomInfo {
  return {
    code: room.code,
    ref: room.ref,
    rev: room.rev,
    name: room.name,
    type: room.type,
    maxUsers: room.maxUsers,
    access: room.access,
    locked: room.locked,
    hostId: room.hostId,
    createdAt: room.createdAt,
    expiresAt: room.expiresAt,
    ...(room.metadata !== undefined && { metadata: JSON.parse(room.metadata) }),
  };
}

export function toCopy(room: Room): RoomKey & RoomCopy {
  const { seats: _s, lastActive: _l, emptySince: _e, epoch: _p, leapedTo: _f, ...copy } = room;
  return copy;
}

export function toSnapshot(room: Room): RoomSnapshot {
  return { ...toInfo(room), members: room.seats.map((seat) => toMember(seat, room.hostId)) };
}
