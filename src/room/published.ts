/** An event as the feed tells it. On Redis the scripts write the same: `feed.lua` is a translation of this file. */
import type { RoomFeedEvent } from '../protocol/feed.ts';
import type { NodeId, UserId } from '../protocol/ids.ts';
import type { CloseReason } from '../protocol/messages.ts';
import type { RoomEvent } from './outcomes.ts';
import { type Room, toInfo, toMember } from './room.ts';

/** Where and when something was committed. */
export interface Place {
  readonly nodeId: NodeId;
  readonly now: number;
}

/** @param founded is the room before anybody sits in it; @param opened the same with its host, if it has one. */
export function publishedCreate(founded: Room, opened: Room, at: Place): RoomFeedEvent[] {
  const created = entry(founded, at, founded.createdBy, { type: 'room_created', room: toInfo(founded) });
  const [host] = opened.seats;
  if (host === undefined) return [created];
  const member = toMember(host, opened.hostId);
  return [created, entry(opened, at, host.userId, { type: 'user_joined', member })];
}

/** The end of a room is told as the leaving of everybody in it, then as its destruction, a revision each. */
export function published(event: RoomEvent, at: Place): RoomFeedEvent[] {
  const { name, body } = event;
  switch (name) {
    case 'member:joined':
      return [entry(body, at, body.member.userId, { type: 'user_joined', member: body.member })];
    case 'member:back':
      return [entry(body, at, body.member.userId, { type: 'user_back', member: body.member })];
    case 'member:updated':
      return [entry(body, at, body.member.userId, { type: 'user_updated', member: body.member })];
    case 'member:left':
      return [entry(body, at, body.userId, { type: 'user_left', reason: body.reason })];
    case 'member:away':
      return [entry(body, at, body.userId, { type: 'user_away' })];
    case 'host:changed':
      return [entry(body, at, body.hostId, { type: 'host_changed' })];
    case 'room:updated':
      return [entry(body, at, null, { type: 'room_updated', room: body.room })];
    case 'room:closed':
      return ended(body, event.leaving, body.reason, at);
  }
}

type Head = Pick<RoomFeedEvent, 'code' | 'ref' | 'rev'>;

function ended(head: Head, leaving: readonly UserId[], reason: CloseReason, at: Place): RoomFeedEvent[] {
  const later = (steps: number): Head => ({ ...head, rev: head.rev + steps });
  return [
    ...leaving.map((userId, place) => entry(later(place), at, userId, { type: 'user_left', reason })),
    entry(later(leaving.length), at, null, { type: 'room_destroyed', reason }),
  ];
}

/** What is particular to an event, its type included. */
type Particulars = ParticularsOf<RoomFeedEvent>;
type ParticularsOf<Event> = Event extends RoomFeedEvent ? Omit<Event, keyof Head | 'id' | 'userId' | keyof At> : never;
type At = Pick<RoomFeedEvent, 'serverId' | 'timestamp'>;

function entry({ code, ref, rev }: Head, at: Place, userId: UserId | null, particulars: Particulars): RoomFeedEvent {
  const { type, ...rest } = particulars;
  const head = { id: `${ref}:${rev}`, type, code, ref, rev, userId, serverId: at.nodeId, timestamp: at.now };
  // The compiler does not follow one type through the union of events; the callers pair it with its userId and the rest.
  return { ...head, ...rest } as RoomFeedEvent;
}
