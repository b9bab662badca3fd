/** A session's share in a room: its subscriptions, its seat on this node, and the user's record in the store. */
import { socketRoom, socketRoomOfMember } from '../../engine/socket-rooms.ts';
import type { RoomRef, UserId } from '../../protocol/ids.ts';
import type { SeatKey } from '../../room/commands.ts';
import type { SeatRefusal } from '../../room/outcomes.ts';
import type { ServerContext } from '../context.ts';
import { type Refused, refuse } from '../replies.ts';
import type { Session } from '../sessions/session.ts';

/**
 * The end of a room reaches its members by one channel and their nodes by another, and a tick may find it out before
 * either: sockets stay subscribed for this long, so that they hear of it in whichever order.
 */
export const ROOM_END_LINGER_MS = 1000;

/** The Socket.IO rooms of one member: everybody's, and its own. */
export const socketRoomsOf = (ref: RoomRef, userId: UserId): string[] => [
  socketRoom(ref),
  socketRoomOfMember(ref, userId),
];

/** Enters the Socket.IO rooms of a member; resolves when events from other nodes reach them. */
export async function subscribe({ engine }: ServerContext, session: Session, ref: RoomRef): Promise<void> {
  const names = socketRoomsOf(ref, session.userId);
  session.joinSocketRooms(names);
  await Promise.all(names.map((name) => engine.fanout.live(name)));
}

export function unsubscribe(session: Session, ref: RoomRef): void {
  session.leaveSocketRooms(socketRoomsOf(ref, session.userId));
}

/** Records that the session has no seat any more. */
export function clearSeat(context: ServerContext, session: Session): void {
  context.registry.clearSeat(session);
  if (session.connected) refreshUserSoon(context, session);
}

/** Records that the room of the session has ended; unsubscribes it a little later. */
export function roomEnded(context: ServerContext, session: Session): void {
  const ref = session.seat?.ref;
  clearSeat(context, session);
  if (ref !== undefined) context.clock.after(ROOM_END_LINGER_MS, () => unsubscribe(session, ref));
}

/** Writes the user's record; resolves to the store's time, or to `undefined` when a later session owns the record. */
export async function refreshUser(context: ServerContext, session: Session): Promise<number | undefined> {
  const { userId, number, connectedAt, seat, name, mediaType } = session;
  session.refreshedAt = context.clock.now();
  const outcome = await context.engine.apply({
    kind: 'touch',
    userId,
    session: number,
    nodeId: context.nodeId,
    connectedAt,
    seat,
    ...(name !== undefined && { name }),
    ...(mediaType !== undefined && { mediaType }),
  });
  return outcome.ok ? outcome.now : undefined;
}

/** Refreshes the record without anybody waiting for it; the next heartbeat repairs a failure. */
export function refreshUserSoon(context: ServerContext, session: Session): void {
  refreshUser(context, session).then(
    (now) => {
      // The later session's `replaced` message may have arrived before this node knew this session.
      if (now === undefined) replaceSession(context, session);
    },
    (error: unknown) => context.log.debug({ err: error }, 'a user record was not written'),
  );
}

/** Ends a session in favour of a later one of the same user. */
export function replaceSession({ registry, clock }: ServerContext, session: Session): void {
  session.push('session:replaced', {});
  // It is the last push: events of the room must not reach the session until its connection ends.
  if (session.seat !== null) unsubscribe(session, session.seat.ref);
  registry.remove(session);
  // One turn later: the reply to the request under way is written first.
  clock.nextTurn(() => session.end());
}

/** Replaces the session and answers its request: a later session of the same user has its place. */
export function expireSession(context: ServerContext, session: Session): Refused {
  replaceSession(context, session);
  return refuse('SESSION_EXPIRED');
}

/** Brings this node in line with an engine that does not know the seat `key`, and answers the request. */
export function seatRefused(context: ServerContext, session: Session, key: SeatKey, { reason }: SeatRefusal): Refused {
  if (reason === 'SESSION_EXPIRED') return expireSession(context, session);
  // The seat was taken away meanwhile, and its subscriptions with it: the session may be subscribing to them anew.
  if (session.seat?.ref !== key.ref) return refuse(reason);
  if (reason === 'CODE_EXPIRED') {
    roomEnded(context, session);
  } else {
    clearSeat(context, session);
    unsubscribe(session, key.ref);
  }
  return refuse(reason);
}
