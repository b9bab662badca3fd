/** The public types of a room that this client is in. */
import type {
  CloseReason,
  IceServer,
  Json,
  LeaveReason,
  Member,
  Profile,
  RequestInput,
  RoomCode,
  RoomInfo,
  RoomRef,
  RoomSnapshot,
  UserId,
} from '../protocol/index.ts';
import type { Subject } from './emitter.ts';
import type { SignalboxError } from './errors.ts';

/** How a room ended for this client. */
export interface RoomEnding {
  /**
   * - the protocol's reasons for the end of a room: `closed`, `host-left`, `empty`, `idle`, `aged`
   * - `left`: by `Room.leave()`, by joining another room, or by closing the client
   * - `kicked`, `banned`: by the host
   * - `replaced`: the same user has connected elsewhere and has the seat
   * - `expired`: the room ended while this client was not connected
   * - `refused`: the seat was lost while this client was not connected, and no other one was given; `error` says why
   */
  readonly reason: CloseReason | 'left' | 'kicked' | 'banned' | 'replaced' | 'expired' | 'refused';
  /** With `refused`. */
  readonly error?: SignalboxError;
}

/** An event of one member. */
export interface MemberEvent {
  /** After the event; of a member that left, before it. */
  readonly member: Member;
}

/** A message or signal, with its sender. */
export interface RoomMessage {
  /** Stamped by the server. */
  readonly from: UserId;
  /** Any JSON; the server does not read it. */
  readonly data: Json;
}

/** The events of a room, by name. `Room.members` already is what it is after the event. */
export interface RoomEvents {
  /** A member has joined. */
  'member:joined': MemberEvent;
  /** A member has left. */
  'member:left': MemberEvent & {
    /** Null when the event itself was missed. */
    readonly reason: LeaveReason | null;
  };
  /** A member has lost its connection; its seat is kept for the grace period. */
  'member:away': MemberEvent;
  /** An away member is connected again. */
  'member:back': MemberEvent;
  /** The profile of a member has changed. */
  'member:updated': MemberEvent & {
    /** Before the event. */
    readonly before: Member;
  };
  /** The room has another host, or none. */
  'host:changed': {
    /** The `userId` of the host. */
    readonly hostId: UserId | null;
  };
  /** The settings or the metadata of the room have changed. */
  'room:updated': {
    /** After the event. */
    readonly room: RoomInfo;
    /** Before it. */
    readonly before: RoomInfo;
  };
  /**
   * The room has another code: tell it to whoever is still to join. Rare: the server had lost the state of its rooms, and
   * another room took the code before this one was restored.
   */
  'room:code-changed': {
    /** The new one. */
    readonly code: RoomCode;
    /** It leads to another room by now. */
    readonly previousCode: RoomCode;
  };
  /** After each of the above, and after every other change of the room. */
  change: {
    /** After the change. */
    readonly room: RoomSnapshot;
    /** Before it. */
    readonly before: RoomSnapshot;
  };
  /** To this member alone. Signals that come before there is a listener are kept for the first one. */
  signal: RoomMessage;
  /** To every member, the sender included; in the same order for all. */
  message: Omit<RoomMessage, 'from'> & {
    /** Stamped by the server; null for a message of a back end. */
    readonly from: UserId | null;
  };
  /** The connection was lost and is restored; the seat is the same. */
  resumed: undefined;
  /** The connection was lost and is restored, with a new seat: `Room.self.seq` has changed. */
  rejoined: undefined;
  /** Fresh STUN and TURN servers: `Room.iceServers` has changed. */
  ice: readonly IceServer[];
  /** The last event of a room. */
  ended: RoomEnding;
}

/** A room that this client is in. After `ended` it does not change any more, and its promises reject with `CLOSED`. */
export interface Room extends Subject<RoomEvents> {
  /** The digits that others type in order to join. The event `room:code-changed` reports other ones. */
  readonly code: RoomCode;
  /** The room's identity, never used again. */
  readonly ref: RoomRef;
  /** The revision of `snapshot`: +1 for every change of the room. */
  readonly rev: number;
  /** In the order of joining. A new array after every change. */
  readonly members: readonly Member[];
  /** This client as a member. */
  readonly self: Member;
  /** The whole state of the room. */
  readonly snapshot: RoomSnapshot;
  /** The present STUN and TURN servers. The event `ice` reports fresh ones. */
  readonly iceServers: readonly IceServer[];
  /** How it ended; null while it lasts. */
  readonly ending: RoomEnding | null;
  /**
   * Sends JSON of at most 64 KiB to one member. Resolves when it was handed to that member's connection.
   *
   * @throws SignalboxError `PEER_AWAY`, `PEER_NOT_FOUND`, ...: not delivered. `TIMEOUT`: the connection was lost before the
   * answer, and the signal may have been delivered. It is not sent again: the receiver could not tell a copy from another.
   */
  signal(to: string, data: Json): Promise<void>;
  /** Sends JSON of at most 4 KiB to every member. */
  message(data: Json): Promise<void>;
  /** Changes what other members see of this one: `name`, `mediaType`, `metadata`. */
  setProfile(profile: Profile): Promise<void>;
  /** Host only: `name`, `type`, `maxUsers`, `locked`, `metadata`. */
  update(changes: RequestInput<'room:update'>): Promise<void>;
  /** Host only. With `ban` the user cannot join this room again. */
  kick(userId: string, options?: { readonly ban?: boolean }): Promise<void>;
  /** Host only: ends the room for everyone. */
  close(): Promise<void>;
  /** Leaves. The room ends for this client at once, even if the server cannot be reached. */
  leave(): Promise<void>;
}
