/**
 * The commands of an engine, each with its outcome: one row in a table at the end of this file. One command is one atomic
 * step in one shard, or on one user's record.
 */
import type { NodeId, RoomCode, RoomRef, SessionNumber, UserId } from '../protocol/ids.ts';
import type { Member, RoomInfo, RoomSnapshot } from '../protocol/snapshot.ts';
import type {
  Committed,
  Evicted,
  JoinRefusal,
  ListedRoom,
  PoolStats,
  Refusal,
  RevisionOutcome,
  SeatRefusal,
  SnapshotOutcome,
} from './outcomes.ts';
import type { RoomCopy, RoomKey, Seat } from './room.ts';

/** The user that asks for a seat, with the session and the node of its connection. */
export interface JoiningUser {
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

/** Names a seat together with the session that holds it: refused when the room or the session is another one by now. */
export interface SeatKey extends RoomKey {
  readonly userId: UserId;
  readonly session: SessionNumber;
}

/** Names a room on behalf of the server's owner, which needs no seat in it. */
export interface OwnerKey extends RoomKey {
  readonly owner: true;
}

export interface Create {
  readonly kind: 'create';
  readonly shard: number;
  /** Random codes of the shard: the first free one is taken. */
  readonly candidates: readonly RoomCode[];
  /** Where the search for any free code begins when no candidate is free: an index into the shard's codes. */
  readonly searchFrom: number;
  readonly ref: RoomRef;
  /** Its host and first member; without one, the first user to join becomes host. */
  readonly by?: JoiningUser;
  readonly settings: RoomChanges & {
    readonly type: string;
    readonly maxUsers: number;
    readonly access: RoomInfo['access'];
  };
  /** A second create with the same key, within `Policy.idempotencyMs`, is answered with the room of the first. */
  readonly idempotencyKey?: string;
}
type Created =
  | SnapshotOutcome
  /** No code of the shard is free; `nextFreeInMs` is null when none is cooling either. */
  | { readonly ok: false; readonly reason: 'FULL'; readonly nextFreeInMs: number | null }
  /** A create with this key has been done before; its room may have ended since. */
  | ({ readonly ok: false; readonly reason: 'REPLAYED' } & RoomKey);

export interface Join extends RoomKey {
  readonly kind: 'join';
  readonly by: JoiningUser;
}
export type Leave = { readonly kind: 'leave' } & SeatKey;
export type Suspend = { readonly kind: 'suspend' } & SeatKey;
/** `session` is the new one, greater than the one that held the seat. */
export type Resume = { readonly kind: 'resume'; readonly nodeId: NodeId } & SeatKey;
/** Keep-alive: a request of a member extends the lease of its seat and counts as activity of its room. */
export type Renew = { readonly kind: 'renew' } & SeatKey;
type ChangeOfRoom = { readonly subject: 'room'; readonly values: RoomChanges };
type ChangeOfSeat = { readonly subject: 'seat'; readonly values: SeatChanges };
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
  /** Answered with `UNCHANGED`, and without the room, when that is its revision and all these users are members. */
  readonly known?: { readonly rev: number; readonly members: readonly UserId[] };
}

/** Which room has a code, and whether a user may join it: a read without the members. */
export interface Resolve {
  readonly kind: 'resolve';
  readonly code: RoomCode;
  readonly ref?: RoomRef;
  /** A user that is about to join: refused where its join would be. */
  readonly joiner?: UserId;
}

/** Whether a user is a member of a room: a read without the room. */
export type Find = { readonly kind: 'find' } & Omit<SeatKey, 'session'>;

/** The rooms of a shard, by their codes. */
export interface List {
  readonly kind: 'list';
  readonly shard: number;
  /** The page begins behind this code. */
  readonly after?: RoomCode;
  readonly limit: number;
}
interface Listed {
  readonly ok: true;
  readonly rooms: readonly ListedRoom[];
  /** The shard has more rooms behind this page. */
  readonly more: boolean;
}

export interface Tick {
  readonly kind: 'tick';
  readonly shard: number;
  /** Seats whose connections the asking node holds: renewed, or reported as lost. */
  readonly held: readonly SeatKey[];
  /** At most so many leases, rooms and cooled codes each are reaped in one step, so that no step takes long. */
  readonly limit: number;
  /** The rooms in `held`, with the revisions of the copies that the node keeps of them. */
  readonly rooms: readonly (RoomKey & { readonly rev: number })[];
  /**
   * No other node is connected, and this one has nothing to restore in this shard: nobody is waited for. Must stay false
   * while it has, because the shard may be found to have lost its state in this step.
   */
  readonly sole: boolean;
  /** The epoch in which the node has restored what it holds in this shard; missing at first, when it holds nothing. */
  readonly knownEpoch?: number;
  /** The node has nothing left to restore in `knownEpoch`. The recovery ends when all connected nodes have said so. */
  readonly restored?: { readonly by: NodeId; readonly connected: readonly NodeId[] };
  /** How often each node ticks a shard: after twice as long without a tick nothing is reaped for the length of a lease. */
  readonly everyMs: number;
}
interface Ticked extends Committed {
  /** The revision of every room in `held` that still exists, and the number of its members. */
  readonly revs: readonly (RoomKey & { readonly rev: number; readonly seats: number })[];
  /** Entries of `held` whose session does not hold the seat any more. */
  readonly lost: readonly SeatKey[];
  readonly evicted: readonly Evicted[];
  /** The epoch of the shard. Another one than before: the store may have lost history, see `Restore`. */
  readonly epoch: number;
  /** How long the shard still waits for nodes to restore what they hold; 0 once it has recovered. */
  readonly recoveringMs: number;
  /**
   * Rooms of `rooms` whose copies are behind. None while the shard recovers; and not to be taken by a node that has not yet
   * restored its own copy in this epoch, which may be the newer one.
   */
  readonly infos: readonly (RoomKey & RoomCopy)[];
  /** The limit was reached: something due is left for the next step. */
  readonly more: boolean;
  readonly poolStats: PoolStats;
}

/**
 * A node gives back to the store what it knows of a room, because the store may have lost it: creates the room again, or
 * merges into what is there. A room whose code another one has by now gets a new code of the same shard.
 */
export interface Restore extends RoomKey {
  readonly kind: 'restore';
  /** The epoch in which the node has last seen the room in the store. In the same epoch the store is right, and this is refused. */
  readonly sinceEpoch: number;
  readonly room: RoomCopy;
  /** Those whose connections the node holds. */
  readonly seats: readonly RestoredSeat[];
  /** As in `Create`, for a room that has lost its code. */
  readonly candidates: readonly RoomCode[];
  readonly searchFrom: number;
}
export type RestoredSeat = Omit<Seat, 'leaseUntil'>;
/** The room as it is now, perhaps with another code. No events: the members know all of this; the revision has grown. */
type Restored = SnapshotOutcome & { readonly epoch: number };

/** Codes that the node has seen released: free ones among them cool for so long, in case the store has forgotten. */
export interface Cool {
  readonly kind: 'cool';
  readonly shard: number;
  readonly codes: readonly (readonly [code: RoomCode, forMs: number])[];
}

/** The pool statistics of a shard. */
export interface Stats {
  readonly kind: 'stats';
  readonly shard: number;
}

export interface Arrive {
  readonly kind: 'arrive';
  readonly userId: UserId;
  readonly nodeId: NodeId;
  readonly name?: string;
}
interface Arrived {
  readonly ok: true;
  readonly session: SessionNumber;
  readonly connectedAt: number;
  readonly previous: { readonly session: SessionNumber; readonly nodeId: NodeId; readonly online: boolean } | null;
  readonly seat: RoomKey | null;
}

/** Refreshes the user's record, and creates it again when it had expired. */
export interface Touch {
  readonly kind: 'touch';
  readonly userId: UserId;
  readonly session: SessionNumber;
  readonly nodeId: NodeId;
  readonly connectedAt: number;
  readonly name?: string;
  readonly mediaType?: string;
  /** The room in which the user has a seat now. */
  readonly seat: RoomKey | null;
}

export interface Depart {
  readonly kind: 'depart';
  readonly userId: UserId;
  readonly session: SessionNumber;
}

interface ShardCommands {
  create: { command: Create; outcome: Created };
  join: { command: Join; outcome: SnapshotOutcome | JoinRefusal | Refusal<'CODE_EXPIRED' | 'SESSION_EXPIRED'> };
  leave: { command: Leave; outcome: RevisionOutcome | SeatRefusal };
  suspend: { command: Suspend; outcome: RevisionOutcome | SeatRefusal };
  resume: { command: Resume; outcome: SnapshotOutcome | SeatRefusal };
  renew: { command: Renew; outcome: { readonly ok: true; readonly rev: number; readonly now: number } | SeatRefusal };
  update: { command: Update; outcome: SnapshotOutcome | SeatRefusal | Refusal<'FORBIDDEN'> };
  kick: {
    command: Kick;
    outcome: RevisionOutcome | SeatRefusal | Refusal<'FORBIDDEN' | 'PEER_NOT_FOUND' | 'CONFLICT'>;
  };
  close: { command: Close; outcome: RevisionOutcome | SeatRefusal | Refusal<'FORBIDDEN'> };
  read: {
    command: Read;
    outcome:
      | { readonly ok: true; readonly room: RoomSnapshot }
      | { readonly ok: false; readonly reason: 'UNCHANGED' }
      | Refusal<'ROOM_NOT_FOUND' | 'CODE_EXPIRED'>;
  };
  resolve: {
    command: Resolve;
    outcome:
      | { readonly ok: true; readonly ref: RoomRef; readonly rev: number }
      | JoinRefusal
      | Refusal<'ROOM_NOT_FOUND' | 'CODE_EXPIRED'>;
  };
  find: {
    command: Find;
    outcome: { readonly ok: true; readonly state: Member['state'] } | Refusal<'CODE_EXPIRED' | 'NOT_IN_ROOM'>;
  };
  list: { command: List; outcome: Listed };
  tick: { command: Tick; outcome: Ticked };
  restore: { command: Restore; outcome: Restored | Refusal<'CODE_EXPIRED' | 'POOL_EXHAUSTED'> };
  cool: { command: Cool; outcome: { readonly ok: true } };
  stats: { command: Stats; outcome: { readonly ok: true } & PoolStats };
}

interface UserCommands {
  arrive: { command: Arrive; outcome: Arrived };
  touch: { command: Touch; outcome: { readonly ok: true; readonly now: number } | Refusal<'SESSION_EXPIRED'> };
  depart: { command: Depart; outcome: { readonly ok: true } | Refusal<'SESSION_EXPIRED'> };
}

export type ShardCommand = ShardCommands[keyof ShardCommands]['command'];
export type UserCommand = UserCommands[keyof UserCommands]['command'];
export type Command = ShardCommand | UserCommand;
export type Outcome<C extends Command> = (ShardCommands & UserCommands)[C['kind']]['outcome'];
