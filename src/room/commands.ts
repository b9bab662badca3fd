/** What can be asked of the state. One command is one atomic step in one shard, or of one user. */
import type { NodeId, RoomCode, RoomRef, SessionNumber, UserId } from '../protocol/ids.ts';
import type { RoomInfo } from '../protocol/snapshot.ts';

/** Who asks for a seat, from where. */
export interface Occupant {
  readonly userId: UserId;
  readonly session: SessionNumber;
  readonly nodeId: NodeId;
  readonly profile: SeatChanges;
}

/** Opaque bodies are JSON text. */
export interface SeatChanges {
  readonly name?: string;
  readonly mediaType?: string;
  readonly metadata?: string;
}

export interface RoomChanges {
  readonly name?: string;
  readonly type?: string;
  readonly maxUsers?: number;
  readonly access?: RoomInfo['access'];
  readonly locked?: boolean;
  readonly metadata?: string;
}

/** A seat, as its holder names it: refused when the room or the session is not that one any more. */
export interface SeatKey {
  readonly code: RoomCode;
  readonly ref: RoomRef;
  readonly userId: UserId;
  readonly session: SessionNumber;
}

/** A room, as its server's owner names it, who has no seat in it and needs none. */
export interface OwnerKey {
  readonly code: RoomCode;
  readonly ref: RoomRef;
  readonly owner: true;
}

export interface Create {
  readonly kind: 'create';
  readonly shard: number;
  /** Codes of the shard, drawn by chance: the first free one is taken. */
  readonly candidates: readonly RoomCode[];
  /** Where the search for any free code begins when no candidate is free: an index into the shard's codes. */
  readonly from: number;
  readonly ref: RoomRef;
  /** Its host and first member; without one, whoever joins first becomes host. */
  readonly by?: Occupant;
  readonly settings: RoomChanges & {
    readonly type: string;
    readonly maxUsers: number;
    readonly access: RoomInfo['access'];
  };
  /** Names this create: the same key within the receipt's time gives the same room. */
  readonly receipt?: string;
}
export interface Join {
  readonly kind: 'join';
  readonly code: RoomCode;
  readonly ref: RoomRef;
  readonly by: Occupant;
}
export type Leave = { readonly kind: 'leave' } & SeatKey;
export type Suspend = { readonly kind: 'suspend' } & SeatKey;
/** `session` is the new one, greater than the one that held the seat. */
export type Resume = { readonly kind: 'resume'; readonly nodeId: NodeId } & SeatKey;
/** A member asked for something: its seat and its room live on. */
export type Renew = { readonly kind: 'renew' } & SeatKey;
type ChangeOfRoom = { readonly of: 'room'; readonly to: RoomChanges };
type ChangeOfSeat = { readonly of: 'seat'; readonly to: SeatChanges };
export type Update = { readonly kind: 'update' } & (
  | ({ readonly change: ChangeOfRoom | ChangeOfSeat } & SeatKey)
  | ({ readonly change: ChangeOfRoom } & OwnerKey)
);
export type Kick = { readonly kind: 'kick'; readonly target: UserId; readonly ban: boolean } & (SeatKey | OwnerKey);
export type Close = { readonly kind: 'close' } & (SeatKey | OwnerKey);
export interface Read {
  readonly kind: 'read';
  readonly code: RoomCode;
  readonly ref?: RoomRef;
  /** Who thinks of joining: is told at once when the room would not have this user. */
  readonly joiner?: UserId;
}
/** The rooms of a shard, by their codes. */
export interface List {
  readonly kind: 'list';
  readonly shard: number;
  /** Begins behind this code. */
  readonly after?: RoomCode;
  readonly limit: number;
}
export interface Tick {
  readonly kind: 'tick';
  readonly shard: number;
  /** Seats whose connections the asking node holds: renewed, or reported lost. */
  readonly held: readonly SeatKey[];
  /** At most so many leases, rooms and cooled codes each are reaped in one step, so that no step takes long. */
  readonly limit: number;
}
export interface Stock {
  readonly kind: 'stock';
  readonly shard: number;
}

export interface Arrive {
  readonly kind: 'arrive';
  readonly userId: UserId;
  readonly nodeId: NodeId;
  readonly name?: string;
}
/** Keeps the user; `seat` is where it sits now. Makes the record anew when it had expired. */
export interface Touch {
  readonly kind: 'touch';
  readonly userId: UserId;
  readonly session: SessionNumber;
  readonly nodeId: NodeId;
  readonly connectedAt: number;
  readonly name?: string;
  readonly mediaType?: string;
  readonly seat: { readonly code: RoomCode; readonly ref: RoomRef } | null;
}
export interface Depart {
  readonly kind: 'depart';
  readonly userId: UserId;
  readonly session: SessionNumber;
}

export type ShardCommand =
  | Create
  | Join
  | Leave
  | Suspend
  | Resume
  | Renew
  | Update
  | Kick
  | Close
  | Read
  | List
  | Tick
  | Stock;
export type UserCommand = Arrive | Touch | Depart;
export type Command = ShardCommand | UserCommand;
