/**
 * The Socket.IO rooms. Named by ref, so that an event of an ended room cannot reach a reused code; the braces put both
 * into one Redis slot, so that on a Cluster too `member:joined` and the first signal of that member keep their order.
 * At least 22 characters long: the adapter takes a name of 20 for a socket's id.
 */
import type { RoomRef, UserId } from '../protocol/ids.ts';

/** Everyone in the room. */
export const roomChannel = (ref: RoomRef): string => `room:{${ref}}`;

/** One member of the room. */
export const memberChannel = (ref: RoomRef, userId: UserId): string => `room:{${ref}}:${userId}`;

/** How many listen to a member's channel tells whether that member can be reached. */
export const isMemberChannel = (channel: string): boolean => channel.includes('}:');
