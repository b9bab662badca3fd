/** The transitions of one room. Every event raises the revision by one, so a gap in revisions is a missed event. */
import type { Push } from '../protocol/events.ts';
import type { UserId } from '../protocol/ids.ts';
import type { CloseReason, LeaveReason } from '../protocol/messages.ts';
import type { JoiningUser } from './commands.ts';
import type { Evicted, RoomEvent, RoomEventName } from './outcomes.ts';
import { type Policy, type Room, type Seat, toMember } from './room.ts';

/** The next state of a room, null once it has ended, with the events on the way there. */
export interface Transition {
  readonly room: Room | null;
  readonly events: readonly RoomEvent[];
  readonly evicted: readonly Evicted[];
}

export const seatOf = (room: Room, userId: UserId): Seat | undefined =>
  room.seats.find((seat) => seat.userId === userId);

/** A new member. The first one in an empty room is its host. */
export function addSeat(room: Room, by: JoiningUser, now: number, policy: Policy): Transition {
  const seat: Seat = {
    name: null,
    ...by.profile,
    userId: by.userId,
    seq: room.nextSeq,
    joinedAt: now,
    state: 'present',
    session: by.session,
    nodeId: by.nodeId,
    leaseUntil: now + policy.leaseMs,
  };
  const seated = nextRevision(room, {
    seats: [...room.seats, seat],
    nextSeq: room.nextSeq + 1,
    emptySince: null,
    lastActive: now,
  });
  const joined = event(seated, 'member:joined', { member: toMember(seat, seated.hostId) });
  if (seated.hostId !== null) return { room: seated, events: [joined], evicted: [] };
  const hosted = nextRevision(seated, { hostId: by.userId });
  return { room: hosted, events: [joined, event(hosted, 'host:changed', { hostId: by.userId })], evicted: [] };
}

/**
 * A later session of the same user gets the seat. The events are always away, then back, whether the loss of the
 * old connection or the new one is noticed first: the other members must know that the peer has a new connection.
 */
export function moveSeatToSession(
  room: Room,
  seat: Seat,
  by: Pick<JoiningUser, 'session' | 'nodeId'>,
  now: number,
  policy: Policy,
): Transition {
  const away = seat.state === 'present' ? suspendSeat(room, seat, now, policy) : { room, events: [] };
  const back: Seat = { ...seat, state: 'present', ...by, leaseUntil: now + policy.leaseMs };
  const resumed = nextRevision({ ...away.room, seats: replaceSeat(away.room, back) }, { lastActive: now });
  return {
    room: resumed,
    events: [...away.events, event(resumed, 'member:back', { member: toMember(back, resumed.hostId) })],
    evicted: [],
  };
}

/** The connection is lost: the seat is kept for the grace period. */
export function suspendSeat(
  room: Room,
  seat: Seat,
  now: number,
  policy: Policy,
): { room: Room; events: readonly RoomEvent[] } {
  const away: Seat = { ...seat, state: 'away', leaseUntil: now + policy.graceMs };
  const next = nextRevision(room, { seats: replaceSeat(room, away) });
  return { room: next, events: [event(next, 'member:away', { userId: seat.userId })] };
}

/** A member is gone for good. The next host is the present member that joined first; or the room ends, by policy. */
export function removeSeat(room: Room, seat: Seat, reason: LeaveReason, now: number, policy: Policy): Transition {
  const seats = room.seats.filter((other) => other !== seat);
  const left = nextRevision(room, { seats, emptySince: seats.length === 0 ? now : null });
  const events = [event(left, 'member:left', { userId: seat.userId, reason })];
  const evicted = reason === 'left' ? [] : [evictedFrom(room, seat, reason)];
  if (room.hostId !== seat.userId) return { room: left, events, evicted };
  if (policy.closeOnHostLeave) {
    const ended = endRoom(left, 'host-left');
    return { room: null, events: [...events, ...ended.events], evicted: [...evicted, ...ended.evicted] };
  }
  const handed = handOnHost(left);
  return { room: handed.room, events: [...events, ...handed.events], evicted };
}

/** The next host is the present member that joined first, else the member that joined first. */
export function handOnHost(room: Room): { room: Room; events: readonly RoomEvent[] } {
  const heir = room.seats.find(({ state }) => state === 'present') ?? room.seats[0];
  const next = nextRevision(room, { hostId: heir?.userId ?? null });
  return { room: next, events: [event(next, 'host:changed', { hostId: next.hostId })] };
}

export function endRoom(room: Room, reason: CloseReason): Transition {
  const ended = nextRevision(room, {});
  return {
    room: null,
    events: [event(ended, 'room:closed', { reason }, { leaving: room.seats.map(({ userId }) => userId) })],
    evicted: room.seats.map((seat) => evictedFrom(room, seat, reason)),
  };
}

export const nextRevision = (room: Room, changes: Partial<Room>): Room => ({ ...room, ...changes, rev: room.rev + 1 });

export const replaceSeat = (room: Room, seat: Seat): readonly Seat[] =>
  room.seats.map((other) => (other.userId === seat.userId ? seat : other));

type EventFields<Name extends RoomEventName> = Omit<Push<Name>, 'code' | 'ref' | 'rev'>;
type FeedOnly<Name extends RoomEventName> = Partial<Omit<Extract<RoomEvent, { name: Name }>, 'name' | 'body'>>;

/** The event that has brought the room to its current revision. */
export function event<Name extends RoomEventName>(
  room: Room,
  name: Name,
  fields: EventFields<Name>,
  feedOnly: FeedOnly<Name> = {},
): RoomEvent {
  const body = { code: room.code, ref: room.ref, rev: room.rev, ...fields };
  // The compiler cannot follow one name through the union of events; `EventFields` has checked the body against it.
  return { name, body, ...feedOnly } as unknown as RoomEvent;
}

function evictedFrom(room: Room, seat: Seat, reason: Evicted['reason']): Evicted {
  return { code: room.code, ref: room.ref, userId: seat.userId, session: seat.session, nodeId: seat.nodeId, reason };
}
