/** The sessions of this node, by user and by room. Other nodes have others, so it decides nothing about a room. */
import type { RoomCode, RoomRef, UserId } from '../../protocol/ids.ts';
import type { RoomSnapshot } from '../../protocol/snapshot.ts';
import { SHARDS, shardOf } from '../../room/pool.ts';
import type { RoomKey } from '../../room/room.ts';
import { RoomTraffic } from '../limits/room-traffic.ts';
import { KeptRoomCopy } from './room-copy.ts';
import { seatCopyOf } from './seat-copy.ts';
import type { Session } from './session.ts';

/** The part of a room that this node holds. */
export interface LocalRoom {
  code: RoomCode;
  /** The code that it had before it was given this one; undefined for a room that has kept its own. */
  previousCode?: RoomCode;
  readonly ref: RoomRef;
  readonly sessions: Map<UserId, Session>;
  /** The revision that the last tick reported; before the first, the one that the first member came in with. */
  rev: number;
  /** Members in all, on other nodes too: as the last snapshot or tick that this node has seen says. */
  seats: number;
  readonly traffic: RoomTraffic;
  readonly kept: KeptRoomCopy;
  /** The epoch of its shard in which the store has last told of the room, or been told. */
  epoch: number;
}

export class SessionRegistry {
  private readonly users = new Map<UserId, Session>();
  private readonly rooms = new Map<RoomRef, LocalRoom>();
  private readonly shards: Set<LocalRoom>[] = Array.from({ length: SHARDS }, () => new Set());
  /** By shard: the epoch of the store in which this node has restored what it holds. */
  private readonly epochs: number[] = [];
  private readonly onRoomReleased: (ref: RoomRef) => void;

  /** @param onRoomReleased is called when the last session of a room has left this node. */
  constructor(onRoomReleased: (ref: RoomRef) => void = () => {}) {
    this.onRoomReleased = onRoomReleased;
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

  /** `session.seat` stays: suspending and leaving it need its key. */
  remove(session: Session): void {
    this.removeFromRoom(session);
    if (this.users.get(session.userId) === session) this.users.delete(session.userId);
  }

  get(userId: UserId): Session | undefined {
    return this.users.get(userId);
  }

  /** @param epoch that of the shard when the store told the snapshot. */
  setSeat(session: Session, snapshot: RoomSnapshot, epoch = this.epochOf(shardOf(snapshot.code)) ?? 0): void {
    const { ref, rev, members } = snapshot;
    this.unsetSeat(session);
    const room = this.rooms.get(ref) ?? this.addRoom(snapshot, epoch);
    session.seat = { code: room.code, ref };
    session.seatCopy = seatCopyOf(snapshot, session.userId);
    room.seats = members.length;
    room.kept.learnSnapshot(snapshot);
    // The lowest revision that a session here has seen: the next tick tells all when the room is further.
    room.rev = Math.min(room.rev, rev);
    room.sessions.set(session.userId, session);
  }

  unsetSeat(session: Session): void {
    this.removeFromRoom(session);
    session.seat = null;
    session.seatCopy = null;
  }

  /** The room has another code of the same shard. */
  changeCode(room: LocalRoom, code: RoomCode): void {
    room.previousCode = room.code;
    room.code = code;
    for (const session of room.sessions.values()) session.seat = { code, ref: room.ref };
  }

  room(ref: RoomRef): LocalRoom | undefined {
    return this.rooms.get(ref);
  }

  /** The present code of a room, for one that names it by the code that it had before. */
  presentCode({ code, ref }: RoomKey): RoomCode {
    const room = this.rooms.get(ref);
    return room?.previousCode === code ? room.code : code;
  }

  /** The room that a code leads to, if this node holds a part of it. */
  roomOfCode(code: RoomCode): LocalRoom | undefined {
    for (const room of this.roomsOfShard(shardOf(code))) if (room.code === code) return room;
    return undefined;
  }

  /** What a snapshot tells of a room, if this node holds a part of it. */
  setSeats(ref: RoomRef, seats: number): void {
    const room = this.rooms.get(ref);
    if (room !== undefined) room.seats = seats;
  }

  /** Members of the room of a session, as far as this node knows; 1 without a room. */
  seatsAround({ seat }: Session): number {
    const room = seat === null ? undefined : this.rooms.get(seat.ref);
    return room === undefined ? 1 : this.seatsOf(room);
  }

  seatsOf({ seats, sessions }: LocalRoom): number {
    return Math.max(seats, sessions.size);
  }

  /** @param userId any text: an invalid id finds no session. */
  member(ref: RoomRef, userId: string): Session | undefined {
    return this.rooms.get(ref)?.sessions.get(userId as UserId);
  }

  roomsOfShard(shard: number): Iterable<LocalRoom> {
    return this.shards[shard] ?? [];
  }

  epochOf(shard: number): number | undefined {
    return this.epochs[shard];
  }

  setEpoch(shard: number, epoch: number): void {
    this.epochs[shard] = epoch;
  }

  private addRoom(snapshot: RoomSnapshot, epoch: number): LocalRoom {
    const { code, ref, rev } = snapshot;
    const kept = new KeptRoomCopy(snapshot);
    const room = { code, ref, sessions: new Map(), rev, seats: 1, traffic: new RoomTraffic(), kept, epoch };
    this.rooms.set(ref, room);
    this.shards[shardOf(code)]?.add(room);
    return room;
  }

  private removeFromRoom(session: Session): void {
    const room = session.seat && this.rooms.get(session.seat.ref);
    // A later session of the same user may have taken the place.
    if (!room || room.sessions.get(session.userId) !== session) return;
    room.sessions.delete(session.userId);
    if (room.sessions.size > 0) return;
    this.rooms.delete(room.ref);
    this.shards[shardOf(room.code)]?.delete(room);
    this.onRoomReleased(room.ref);
  }
}
