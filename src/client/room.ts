/** The room as this client is in it: the truth as far as it has come, and what can be done there. */
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
   * - `replaced`: the same user has connected elsewhere and has the seat now
   * - `expired`: the room ended while this client was out of reach
   * - `refused`: the seat was lost while this client was out of reach, and could not be taken again; `error` says why
   */
  readonly reason: CloseReason | 'left' | 'kicked' | 'banned' | 'replaced' | 'expired' | 'refused';
  /** With `refused`. */
  readonly error?: SignalboxError;
}

/** A member, as the room has it now. */
export interface MemberEvent {
  /** As it is after the event; of one who has left, as it was before. */
  readonly member: Member;
}

/** Who says it, and what. */
export interface RoomMessage {
  /** Stamped by the server. */
  readonly from: UserId;
  /** Whatever the sender gave; the server has not looked into it. */
  readonly data: Json;
}

/** What a room tells, by name. Bodies tell what has changed; `Room.members` is already as it is after it. */
export interface RoomEvents {
  /** Somebody took a seat. */
  'member:joined': MemberEvent;
  /** A seat is free again. */
  'member:left': MemberEvent & {
    /** Null when it was only noticed later that the member had gone. */
    readonly reason: LeaveReason | null;
  };
  /** A member's connection is lost; its seat is kept for the grace. */
  'member:away': MemberEvent;
  /** A member has taken up its seat again. */
  'member:back': MemberEvent;
  /** A member says something else of itself. */
  'member:updated': MemberEvent & {
    /** As it was. */
    readonly before: Member;
  };
  /** The room has another host, or none. */
  'host:changed': {
    /** The `userId` of the host. */
    readonly hostId: UserId | null;
  };
  /** The room says something else of itself. */
  'room:updated': {
    /** As it is. */
    readonly room: RoomInfo;
    /** As it was. */
    readonly before: RoomInfo;
  };
  /** After each of the above, and whenever else the room has changed. */
  change: {
    /** As it is. */
    readonly room: RoomSnapshot;
    /** As it was. */
    readonly before: RoomSnapshot;
  };
  /** To this member alone. Those that came before anybody listened are told to the first who does. */
  signal: RoomMessage;
  /** To everyone; one's own come back too, in the order in which all hear them. */
  message: Omit<RoomMessage, 'from'> & {
    /** Stamped by the server; null when the server itself says it, for a back end. */
    readonly from: UserId | null;
  };
  /** The connection was lost and is back; the seat was kept. */
  resumed: undefined;
  /** The seat was lost with the connection, and a new one was taken: `Room.self.seq` is another one. */
  rejoined: undefined;
  /** Fresh STUN and TURN servers: `Room.iceServers` has changed. */
  ice: readonly IceServer[];
  /** The last event of a room. */
  ended: RoomEnding;
}

/** A seat in a room. After `ended`, its promises reject with `CLOSED` and it stays as it was. */
export interface Room extends Subject<RoomEvents> {
  /** The digits that others type to join. */
  readonly code: RoomCode;
  /** The room's own identity, never used again. */
  readonly ref: RoomRef;
  /** The revision that this client has reached: +1 for every change of the room. */
  readonly rev: number;
  /** In the order of joining. A new array after every change. */
  readonly members: readonly Member[];
  /** This client as a member. */
  readonly self: Member;
  /** All that is known of the room. */
  readonly snapshot: RoomSnapshot;
  /** The STUN and TURN servers to use now. Fresh ones come with the event `ice`. */
  readonly iceServers: readonly IceServer[];
  /** How it ended; null while it lasts. */
  readonly ending: RoomEnding | null;
  /**
   * Hands JSON of at most 64 KiB to one member. Resolves when that member's connection has it.
   *
   * @throws SignalboxError `PEER_AWAY`, `PEER_NOT_FOUND`, ...
   */
  signal(to: string, data: Json): Promise<void>;
  /** Says JSON of at most 4 KiB to everyone in the room. */
  message(data: Json): Promise<void>;
  /** Changes what the others see of oneself: `name`, `mediaType`, `metadata`. */
  setProfile(profile: Profile): Promise<void>;
  /** Host only: `name`, `type`, `maxUsers`, `locked`, `metadata`. */
  update(changes: RequestInput<'room:update'>): Promise<void>;
  /** Host only. With `ban` the user cannot join this room again. */
  kick(userId: string, options?: { readonly ban?: boolean }): Promise<void>;
  /** Host only: ends the room for everyone. */
  close(): Promise<void>;
  /** Gives the seat back. The room has ended for this client at once, whether or not the server can be told. */
  leave(): Promise<void>;
}
