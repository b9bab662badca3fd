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

/**
 * - the protocol's reasons for the end of a room: `closed`, `host-left`, `empty`, `idle`, `aged`
 * - `left`: by `Room.leave()`, by joining another room, or by closing the client
 * - `kicked`, `banned`: by the host
 * - `replaced`: the same user has connected elsewhere and has the seat now
 * - `expired`: the room ended while this client was out of reach
 * - `refused`: the seat was lost while this client was out of reach, and the room does not take it back: `error` says why
 */
export type RoomEnding =
  | { readonly reason: CloseReason | 'left' | 'kicked' | 'banned' | 'replaced' | 'expired' }
  | { readonly reason: 'refused'; readonly error: SignalboxError };

/** Bodies of events tell what has changed; `Room.members` is already as it is after it. */
export interface RoomEvents {
  'member:joined': { readonly member: Member };
  /** `reason` is null when it was only noticed later that the member had gone. */
  'member:left': { readonly member: Member; readonly reason: LeaveReason | null };
  'member:away': { readonly member: Member };
  'member:back': { readonly member: Member };
  'member:updated': { readonly member: Member; readonly before: Member };
  'host:changed': { readonly hostId: UserId | null };
  'room:updated': { readonly room: RoomInfo; readonly before: RoomInfo };
  /** After each of the above, and whenever else the room has changed: what it is now, and was before. */
  change: { readonly room: RoomSnapshot; readonly before: RoomSnapshot };
  signal: { readonly from: UserId; readonly data: Json };
  /** To everyone; one's own come back too, in the order in which all hear them. */
  message: { readonly from: UserId; readonly data: Json };
  /** The connection was lost and is back; the seat was kept. */
  resumed: undefined;
  /** The seat was lost with the connection, and a new one was taken: `Room.self.seq` is another one. */
  rejoined: undefined;
  /** Fresh STUN and TURN servers: `Room.iceServers` has changed. */
  ice: readonly IceServer[];
  /** The last event of a room. */
  ended: RoomEnding;
}

export interface Room extends Subject<RoomEvents> {
  readonly code: RoomCode;
  /** The room's own identity, never used again. */
  readonly ref: RoomRef;
  /** The revision that this client has reached: +1 for every change of the room. */
  readonly rev: number;
  /** In the order of joining. A new array after every change. */
  readonly members: readonly Member[];
  readonly self: Member;
  /** All that is known of the room. */
  readonly snapshot: RoomSnapshot;
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
