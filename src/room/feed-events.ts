/** The events of the feed that follow from a room's events. On Redis the scripts write the same: `feed.lua` is a translation of this file. */
import type { RoomFeedEvent } from '../protocol/feed.ts';
import type { NodeId, RoomCode, UserId } from '../protocol/ids.ts';
import type { CloseReason } from '../protocol/messages.ts';
import type { Create, Outcome, ShardCommand } from './commands.ts';
import type { RoomEvent, RoomEventName } from './outcomes.ts';
import { type Policy, toInfo, toMember } from './room.ts';
import { emptyRoom, newRoom } from './transitions.ts';

/**
 * The names of a room's events: on the wire, and in the feed. The only translation, in Lua too: its table is made of this
 * one. `room_created` is not in it, for members are never pushed the creation of their room.
 */
export const FEED_TYPE_OF = {
  'member:joined': 'user_joined',
  'member:left': 'user_left',
  'member:away': 'user_away',
  'member:back': 'user_back',
  'member:updated': 'user_updated',
  'host:changed': 'host_changed',
  'room:updated': 'room_updated',
  'room:closed': 'room_destroyed',
} as const satisfies Readonly<Record<RoomEventName, RoomFeedEvent['type']>>;

/** The node and the instant of a commit. */
export interface CommitInfo {
  readonly nodeId: NodeId;
  readonly now: number;
}

/** The events that a command adds to the feed. */
export function feedEventsOf<C extends ShardCommand>(
  command: C,
  outcome: Outcome<C>,
  at: CommitInfo & { readonly policy: Policy },
): RoomFeedEvent[] {
  if (command.kind === 'create') return 'room' in outcome ? creation(command, outcome.room.code, at) : [];
  return 'events' in outcome ? outcome.events.flatMap((event) => feedEvents(event, at)) : [];
}

/** The room is created empty, then its host joins, if it has one: nobody is in the room yet who could be told of it. */
function creation(command: Create, code: RoomCode, at: CommitInfo & { readonly policy: Policy }): RoomFeedEvent[] {
  const empty = emptyRoom(command, code, at.now, at.policy);
  const room = newRoom(command, code, at.now, at.policy);
  const created = feedEvent(empty, at, empty.createdBy, { type: 'room_created', room: toInfo(empty) });
  const [host] = room.seats;
  if (host === undefined) return [created];
  return [created, feedEvent(room, at, host.userId, { type: 'user_joined', member: toMember(host, room.hostId) })];
}

function feedEvents(event: RoomEvent, at: CommitInfo): RoomFeedEvent[] {
  const { name, body } = event;
  switch (name) {
    case 'member:joined':
    case 'member:back':
    case 'member:updated':
      return [feedEvent(body, at, body.member.userId, { type: FEED_TYPE_OF[name], member: body.member })];
    case 'member:left':
      return [feedEvent(body, at, body.userId, { type: FEED_TYPE_OF[name], reason: body.reason })];
    case 'member:away':
      return [feedEvent(body, at, body.userId, { type: FEED_TYPE_OF[name] })];
    case 'host:changed':
      return [feedEvent(body, at, body.hostId, { type: FEED_TYPE_OF[name] })];
    case 'room:updated':
      return [feedEvent(body, at, null, { type: FEED_TYPE_OF[name], room: body.room })];
    case 'room:closed':
      return endEvents(body, event.leaving, body.reason, at);
  }
}

type EventHead = Pick<RoomFeedEvent, 'code' | 'ref' | 'rev'>;

/** The end of a room gives one `user_left` for each of its members, then `room_destroyed`, each with its own revision. */
function endEvents(head: EventHead, leaving: readonly UserId[], reason: CloseReason, at: CommitInfo): RoomFeedEvent[] {
  const later = (steps: number): EventHead => ({ ...head, rev: head.rev + steps });
  return [
    ...leaving.map((userId, index) =>
      feedEvent(later(index), at, userId, { type: FEED_TYPE_OF['member:left'], reason }),
    ),
    feedEvent(later(leaving.length), at, null, { type: FEED_TYPE_OF['room:closed'], reason }),
  ];
}

/** The type of an event and the fields that only events of this type have. */
type EventBody = EventBodyOf<RoomFeedEvent>;
type EventBodyOf<Event> = Event extends RoomFeedEvent
  ? Omit<Event, keyof EventHead | 'id' | 'userId' | 'serverId' | 'timestamp'>
  : never;

function feedEvent(
  { code, ref, rev }: EventHead,
  at: CommitInfo,
  userId: UserId | null,
  body: EventBody,
): RoomFeedEvent {
  const { type, ...rest } = body;
  const head = { id: `${ref}:${rev}`, type, code, ref, rev, userId, serverId: at.nodeId, timestamp: at.now };
  // The compiler does not follow one type through the union of events; the callers pair it with its userId and the rest.
  return { ...head, ...rest } as RoomFeedEvent;
}
