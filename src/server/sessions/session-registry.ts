/** Who is connected to this node, by user and by room. Other nodes have others: it decides nothing about a room. */
import type { RoomCode, RoomRef, UserId } from '../../protocol/ids.ts';
import { SHARDS, shardOf } from '../../room/pool.ts';
import type { RoomKey } from '../../room/room.ts';
import type { Session } from './session.ts';

/** The part of a room that this node holds. */
export interface LocalRoom {
  readonly code: RoomCode;
  readonly ref: RoomRef;
  readonly sessions: Map<UserId, Session>;
  /** The revision that the last tick reported; before the first, the one that the first member came in with. */
  rev: number;
  /** Signals of members on this node that were handed on, and that nobody has been told of yet. */
  signals: number;
}

export class SessionRegistry {
  private readonly users = new Map<UserId, Session>();
  private readonly rooms = new Map<RoomRef, LocalRoom>();
  private readonly shards: Set<LocalRoom>[] = Array.from({ length: SHARDS }, () => new Set());
  private readonly tell: (ref: RoomRef, signals: number) => void;

  /** @param tell hears of signals whose room this node holds no longer. */
  constructor(tell: (ref: RoomRef, signals: number) => void = () => {}) {
    this.tell = tell;
  }

  all(): Iterable<Session> {
    return this.users.values();
  }

  /** @returns the session of the same user that is over now: usually the older one, but the two may arrive out of order. */
  add(session: Session): Session | undefined {
    const other = this.users.get(session.userId);
    if (other !== undefined && other.number > session.number) return session;
    this.users.set(session.userId, session);
    return other;
  }

  /** Its seat stays written on the session: whoever suspends or leaves it needs to know which. */
  remove(session: Session): void {
    this.leaveLocalRoom(session);
    if (this.users.get(session.userId) === session) this.users.delete(session.userId);
  }

  get(userId: UserId): Session | undefined {
    return this.users.get(userId);
  }

  assignSeat(session: Session, { code, ref }: RoomKey, rev: number): void {
    this.clearSeat(session);
    session.seat = { code, ref };
    let localRoom = this.rooms.get(ref);
    if (localRoom === undefined) {
      localRoom = { code, ref, sessions: new Map(), rev, signals: 0 };
      this.rooms.set(ref, localRoom);
      this.shards[shardOf(code)]?.add(localRoom);
    }
    // The least that any of them knows: the next tick tells all when the room has got further.
    localRoom.rev = Math.min(localRoom.rev, rev);
    localRoom.sessions.set(session.userId, session);
  }

  clearSeat(session: Session): void {
    this.leaveLocalRoom(session);
    session.seat = null;
  }

  private leaveLocalRoom(session: Session): void {
    const room = session.seat && this.rooms.get(session.seat.ref);
    // A later session of the same user may have the place by now.
    if (!room || room.sessions.get(session.userId) !== session) return;
    room.sessions.delete(session.userId);
    if (room.sessions.size > 0) return;
    this.rooms.delete(room.ref);
    this.shards[shardOf(room.code)]?.delete(room);
    if (room.signals > 0) this.tell(room.ref, room.signals);
  }

  /** Counts a signal that was on its way for a while: the room may have gone meanwhile. */
  countSignal(ref: RoomRef): void {
    const room = this.rooms.get(ref);
    if (room === undefined) this.tell(ref, 1);
    else room.signals += 1;
  }

  localRooms(): Iterable<LocalRoom> {
    return this.rooms.values();
  }

  room(ref: RoomRef): LocalRoom | undefined {
    return this.rooms.get(ref);
  }

  /** @param userId may be any text: nobody is found under what is not a user id. */
  member(ref: RoomRef, userId: string): Session | undefined {
    return this.rooms.get(ref)?.sessions.get(userId as UserId);
  }

  roomsOfShard(shard: number): Iterable<LocalRoom> {
    return this.shards[shard] ?? [];
  }
}
