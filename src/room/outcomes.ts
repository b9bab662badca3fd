/** What comes of commands: outcomes, refusals among them, and the events to tell. */
import type { ErrorCode } from '../protocol/errors.ts';
import type { Push } from '../protocol/events.ts';
import type { NodeId, RoomCode, RoomRef, SessionNumber, UserId } from '../protocol/ids.ts';
import type { CloseReason, LeaveReason } from '../protocol/messages.ts';
import type { RoomInfo, RoomSnapshot } from '../protocol/snapshot.ts';
import type { Command, SeatKey } from './commands.ts';

export interface Refusal<Reason extends ErrorCode = ErrorCode> {
  readonly ok: false;
  readonly reason: Reason;
}
/** The seat's room or session is not the one the command names. */
export type SeatRefusal = Refusal<'CODE_EXPIRED' | 'NOT_IN_ROOM' | 'SESSION_EXPIRED'>;

/** The room would not have this user, who has no seat in it. */
export type JoinRefusal = Refusal<'BANNED' | 'ROOM_LOCKED' | 'ROOM_FULL'>;

/** A session that has lost its seat by somebody else's doing: the node that holds it must be told. */
export interface Evicted {
  readonly code: RoomCode;
  readonly ref: RoomRef;
  readonly userId: UserId;
  readonly session: SessionNumber;
  readonly nodeId: NodeId;
  readonly reason: LeaveReason | CloseReason;
}

interface Done {
  readonly ok: true;
  readonly events: readonly RoomEvent[];
}
export interface Placed extends Done {
  readonly room: RoomSnapshot;
}
export interface Moved extends Done {
  readonly rev: number;
  readonly evicted: readonly Evicted[];
}

interface Outcomes {
  create:
    | Placed
    /** No code of the shard is free; `freesInMs` is when the next one has cooled, if one is cooling. */
    | { readonly ok: false; readonly reason: 'FULL'; readonly freesInMs: number | null }
    /** This create has been done before; the room may have ended since. */
    | { readonly ok: false; readonly reason: 'REPLAYED'; readonly code: RoomCode; readonly ref: RoomRef };
  join: Placed | JoinRefusal | Refusal<'CODE_EXPIRED' | 'SESSION_EXPIRED'>;
  leave: Moved | SeatRefusal;
  suspend: Moved | SeatRefusal;
  resume: Placed | SeatRefusal;
  renew: { readonly ok: true; readonly rev: number; readonly now: number } | SeatRefusal;
  update: Placed | SeatRefusal | Refusal<'FORBIDDEN'>;
  kick: Moved | SeatRefusal | Refusal<'FORBIDDEN' | 'PEER_NOT_FOUND' | 'CONFLICT'>;
  close: Moved | SeatRefusal | Refusal<'FORBIDDEN'>;
  read: { readonly ok: true; readonly room: RoomSnapshot } | JoinRefusal | Refusal<'ROOM_NOT_FOUND' | 'CODE_EXPIRED'>;
  list: {
    readonly ok: true;
    readonly rooms: readonly ListedRoom[];
    /** There are more behind the last of them. */
    readonly more: boolean;
  };
  tick: Done & {
    /** Of every room in `held` that is still there. */
    readonly revs: readonly { readonly code: RoomCode; readonly ref: RoomRef; readonly rev: number }[];
    /** Entries of `held` whose seat is not theirs any more. */
    readonly lost: readonly SeatKey[];
    readonly evicted: readonly Evicted[];
    /** Something due was left for the next step. */
    readonly more: boolean;
    readonly stock: StockFigures;
  };
  stock: { readonly ok: true } & StockFigures;
  arrive: {
    readonly ok: true;
    readonly session: SessionNumber;
    readonly connectedAt: number;
    readonly previous: { readonly session: SessionNumber; readonly nodeId: NodeId; readonly online: boolean } | null;
    readonly seat: { readonly code: RoomCode; readonly ref: RoomRef } | null;
  };
  touch: { readonly ok: true; readonly now: number } | Refusal<'SESSION_EXPIRED'>;
  depart: { readonly ok: true } | Refusal<'SESSION_EXPIRED'>;
}

/** A room without saying who is in it. */
export interface ListedRoom extends RoomInfo {
  readonly memberCount: number;
}

/** Free codes are those neither occupied nor cooling: derived, never stored. */
export interface StockFigures {
  readonly occupied: number;
  readonly cooling: number;
  /** Milliseconds until the next code has cooled, 0 when one has; `null` when none is cooling. By the store's clock. */
  readonly freesInMs: number | null;
}

export type Outcome<C extends Command> = Outcomes[C['kind']];

export type RoomEventName =
  | 'member:joined'
  | 'member:left'
  | 'member:away'
  | 'member:back'
  | 'member:updated'
  | 'host:changed'
  | 'room:updated'
  | 'room:closed';
/** An event is the push that tells of it. */
export type RoomEvent = {
  [Name in RoomEventName]: { readonly name: Name; readonly body: Push<Name> } & Aside<Name>;
}[RoomEventName];
/** What its members know already and others do not: who was in the room when it ended. */
type Aside<Name> = Name extends 'room:closed' ? { readonly leaving: readonly UserId[] } : unknown;
