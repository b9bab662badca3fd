/** A session's subscription to a room: the Socket.IO rooms that deliver the room's events to it. */
import { socketRoom, socketRoomOfMember } from '../../engine/socket-rooms.ts';
import type { RoomRef, UserId } from '../../protocol/ids.ts';
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';

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
