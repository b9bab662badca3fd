/** The parts of command outcomes: refusals, events, evicted sessions, statistics of the pool. */
import type { ErrorCode } from '../protocol/errors.ts';
import type { Push } from '../protocol/events.ts';
import type { NodeId, SessionNumber, UserId } from '../protocol/ids.ts';
import type { CloseReason, LeaveReason } from '../protocol/messages.ts';
import type { RoomInfo, RoomSnapshot } from '../protocol/snapshot.ts';
import type { RoomKey } from './room.ts';

export interface Refusal<Reason extends ErrorCode = ErrorCode> {
  readonly ok: false;
  readonly reason: Reason;
}
/** The seat's room or session is not the one the command names. */
export type SeatRefusal = Refusal<'CODE_EXPIRED' | 'NOT_IN_ROOM' | 'SESSION_EXPIRED'>;

/** The room does not admit this user, which has no seat in it. */
export type JoinRefusal = Refusal<'BANNED' | 'ROOM_LOCKED' | 'ROOM_FULL'>;

/** Evicted: a session removed by a kick, the end of a room or an expiry. Its node must be told. */
export interface Evicted extends RoomKey {
  readonly userId: UserId;
  readonly session: SessionNumber;
  readonly nodeId: NodeId;
  readonly reason: LeaveReason | CloseReason;
}

/** The step was committed, with these events. */
export interface Committed {
  readonly ok: true;
  readonly events: readonly RoomEvent[];
}
/** Outcome with the room snapshot. */
export interface SnapshotOutcome extends Committed {
  readonly room: RoomSnapshot;
}
/** Outcome with the revision of the room, and the sessions that the command has evicted. */
export interface RevisionOutcome extends Committed {
  readonly rev: number;
  readonly evicted: readonly Evicted[];
}

/** A room with the number of its members in place of the members. */
export interface ListedRoom extends RoomInfo {
  readonly memberCount: number;
}

/** Free codes are those neither occupied nor cooling: derived, never stored. */
export interface PoolStats {
  readonly occupied: number;
  readonly cooling: number;
  /** Milliseconds until the next code has cooled, 0 when one has; `null` when none is cooling. By the store's clock. */
  readonly nextFreeInMs: number | null;
}

export type RoomEventName =
  | 'member:joined'
  | 'member:left'
  | 'member:away'
  | 'member:back'
  | 'member:updated'
  | 'host:changed'
  | 'room:updated'
  | 'room:closed';
/** A change of a room: the push to its members, by its name on the wire, and the fields for the feed alone. */
export type RoomEvent = {
  [Name in RoomEventName]: { readonly name: Name; readonly body: Push<Name> } & FeedOnly<Name>;
}[RoomEventName];
/** Fields that members do not need and back ends do: the users that were in the room when it ended. */
type FeedOnly<Name> = Name extends 'room:closed' ? { readonly leaving: readonly UserId[] } : unknown;
