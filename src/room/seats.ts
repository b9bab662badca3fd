/** What happens to one room, told as events. Every event raises the revision by one, so a gap in revisions is a missed event. */
import type { Push } from '../protocol/events.ts';
import type { UserId } from '../protocol/ids.ts';
import type { CloseReason, LeaveReason } from '../protocol/messages.ts';
import type { Occupant } from './commands.ts';
import type { Evicted, RoomEvent, RoomEventName } from './outcomes.ts';
import { type Policy, type Room, type Seat, toMember } from './room.ts';

/** A room on its way through a transition: `room` is null once it has ended. */
export interface Course {
  readonly room: Room | null;
  readonly events: readonly RoomEvent[];
  readonly evicted: readonly Evicted[];
}

export const seatOf = (room: Room, userId: UserId): Seat | undefined =>
  room.seats.find((seat) => seat.userId === userId);

/** Takes a free seat. The first in an empty room is its host. */
export function sit(room: Room, by: Occupant, now: number, policy: Policy): Course {
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
  const seated = bump(room, {
    seats: [...room.seats, seat],
    nextSeq: room.nextSeq + 1,
    emptySince: null,
    lastActive: now,
  });
  const joined = event(seated, 'member:joined', { member: toMember(seat, seated.hostId) });
  if (seated.hostId !== null) return { room: seated, events: [joined], evicted: [] };
  const hosted = bump(seated, { hostId: by.userId });
  return { room: hosted, events: [joined, event(hosted, 'host:changed', { hostId: by.userId })], evicted: [] };
}

/**
 * Gives a seat to a later session of the same user. It always reads as away, then back: whichever of the lost
 * connection and the new one is noticed first, the others are told that they face a new connection.
 */
export function takeOver(
  room: Room,
  seat: Seat,
  by: Pick<Occupant, 'session' | 'nodeId'>,
  now: number,
  policy: Policy,
): Course {
  const away = seat.state === 'present' ? suspendSeat(room, seat, now, policy) : { room, events: [] };
  const back: Seat = { ...seat, state: 'present', ...by, leaseUntil: now + policy.leaseMs };
  const resumed = bump({ ...away.room, seats: replaceSeat(away.room, back) }, { lastActive: now });
  return {
    room: resumed,
    events: [...away.events, event(resumed, 'member:back', { member: toMember(back, resumed.hostId) })],
    evicted: [],
  };
}

/** Keeps the seat of a lost connection for the grace. */
export function suspendSeat(
  room: Room,
  seat: Seat,
  now: number,
  policy: Policy,
): { room: Room; events: readonly RoomEvent[] } {
  const away: Seat = { ...seat, state: 'away', leaseUntil: now + policy.graceMs };
  const next = bump(room, { seats: replaceSeat(room, away) });
  return { room: next, events: [event(next, 'member:away', { userId: seat.userId })] };
}

/** Frees a seat for good. A host hands over to the member that has been present longest, or ends the room by policy. */
export function vacate(room: Room, seat: Seat, reason: LeaveReason, now: number, policy: Policy): Course {
  const seats = room.seats.filter((other) => other !== seat);
  const left = bump(room, { seats, emptySince: seats.length === 0 ? now : null });
  const events = [event(left, 'member:left', { userId: seat.userId, reason })];
  const evicted = reason === 'left' ? [] : [evict(room, seat, reason)];
  if (room.hostId !== seat.userId) return { room: left, events, evicted };
  if (policy.closeOnHostLeave) {
    const ended = end(left, 'host-left');
    return { room: null, events: [...events, ...ended.events], evicted: [...evicted, ...ended.evicted] };
  }
  const heir = seats.find((other) => other.state === 'present') ?? seats[0];
  const handed = bump(left, { hostId: heir?.userId ?? null });
  return { room: handed, events: [...events, event(handed, 'host:changed', { hostId: handed.hostId })], evicted };
}

export function end(room: Room, reason: CloseReason): Course {
  const ended = bump(room, {});
  return {
    room: null,
    events: [event(ended, 'room:closed', { reason }, { leaving: room.seats.map(({ userId }) => userId) })],
    evicted: room.seats.map((seat) => evict(room, seat, reason)),
  };
}

export const bump = (room: Room, changes: Partial<Room>): Room => ({ ...room, ...changes, rev: room.rev + 1 });

export const replaceSeat = (room: Room, seat: Seat): readonly Seat[] =>
  room.seats.map((other) => (other.userId === seat.userId ? seat : other));

type Particulars<Name extends RoomEventName> = Omit<Push<Name>, 'code' | 'ref' | 'rev'>;
type Aside<Name extends RoomEventName> = Partial<Omit<Extract<RoomEvent, { name: Name }>, 'name' | 'body'>>;

/** The event that brought the room to its present revision. */
export function event<Name extends RoomEventName>(
  room: Room,
  name: Name,
  particulars: Particulars<Name>,
  aside: Aside<Name> = {},
): RoomEvent {
  const body = { code: room.code, ref: room.ref, rev: room.rev, ...particulars };
  // The compiler cannot follow one name through the union of events; `Particulars` has checked the body against it.
  return { name, body, ...aside } as unknown as RoomEvent;
}

function evict(room: Room, seat: Seat, reason: Evicted['reason']): Evicted {
  return { code: room.code, ref: room.ref, userId: seat.userId, session: seat.session, nodeId: seat.nodeId, reason };
}
