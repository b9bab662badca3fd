/**
 * The names of Socket.IO rooms. They hold the ref, so that an event of an ended room cannot reach a later room of its code.
 * The braces put both names of a room into one slot of Redis: on a Cluster too, `member:joined` comes before the first
 * signal of that member. They are longer than 20 characters: the adapter takes a name of 20 for the id of a socket.
 */
import type { RoomRef, UserId } from '../protocol/ids.ts';

/** All members of a room. */
export const socketRoom = (ref: RoomRef): string => `room:{${ref}}`;

/** One member of a room. */
export const socketRoomOfMember = (ref: RoomRef, userId: UserId): string => `room:{${ref}}:${userId}`;

/** Whether a Redis channel carries the Socket.IO room of one member: the number of its subscribers has a meaning. */
export const isSocketRoomOfMember = (channel: string): boolean => channel.includes('}:');
