/**
 * The events of the feed: the committed events of all rooms, for back ends. The events of a room carry its revisions, one
 * each, from 0 on: a gap is a missed event. Decision 020 says why their names are not those of the members' pushes.
 */
import { z } from 'zod';
import { CLOSE_REASONS, LEAVE_REASONS } from './messages.ts';
import { instant, member, revision, roomCode, roomInfo, roomRef, userId } from './snapshot.ts';

const about = {
  /** Unique: `<ref>:<rev>`. An event that is read or delivered again has the same id. */
  id: z.string(),
  /** The node that committed it. */
  serverId: z.string(),
  /** Milliseconds since 1970, by the store's clock. */
  timestamp: instant,
};
/** `userId` is the user that the event is about, null when it is about the room alone. */
const ofRoom = { ...about, code: roomCode, ref: roomRef, rev: revision };
const ofMember = { ...ofRoom, userId };
const ofAll = { ...about, code: z.null(), ref: z.null(), rev: z.null(), userId: z.null() };

interface FeedEntry {
  readonly about: string;
  readonly body: z.ZodType;
}

const event = <Type extends string, Shape extends z.ZodRawShape>(type: Type, text: string, shape: Shape) => ({
  about: text,
  body: z.object({ type: z.literal(type), ...shape }),
});

export const FEED = {
  room_created: event('room_created', 'A room was created, by `userId`; null if a back end created it.', {
    ...ofRoom,
    userId: userId.nullable(),
    room: roomInfo,
  }),
  user_joined: event('user_joined', 'A member has joined, the creator of a room too.', { ...ofMember, member }),
  user_left: event('user_left', 'A member has left. When a room ends, all its members leave first.', {
    ...ofMember,
    reason: z.enum([...LEAVE_REASONS, ...CLOSE_REASONS]),
  }),
  user_away: event('user_away', 'A member’s connection is lost; its seat is kept for the grace.', ofMember),
  user_back: event('user_back', 'A member has resumed its seat.', { ...ofMember, member }),
  user_updated: event('user_updated', 'A member has changed its profile.', { ...ofMember, member }),
  host_changed: event('host_changed', 'The room has another host; `userId` is null when it has none.', {
    ...ofRoom,
    userId: userId.nullable(),
  }),
  room_updated: event('room_updated', 'A setting of the room has changed.', {
    ...ofRoom,
    userId: z.null(),
    room: roomInfo,
  }),
  room_destroyed: event(
    'room_destroyed',
    'The room has ended. Its code no longer leads to it; its ref is never used again.',
    {
      ...ofRoom,
      userId: z.null(),
      reason: z.enum(CLOSE_REASONS),
    },
  ),
  pool_low: event('pool_low', 'Few codes are free. It concerns no room: code, ref and revision are null.', {
    ...ofAll,
    free: z.int(),
    occupied: z.int(),
    cooling: z.int(),
    total: z.int(),
  }),
  reference_alarm: event(
    'reference_alarm',
    'The ledger is behind references that are in use: find out whether a backup was restored.',
    {
      ...ofAll,
      itemType: z.string(),
      year: z.int(),
      /** Where the seed stood. */
      seed: z.int(),
      /** The highest number that is known to be in use. */
      inUse: z.int(),
      /** Where counting goes on. */
      continuesAt: z.int(),
    },
  ),
} as const satisfies Record<string, FeedEntry>;

export type FeedType = keyof typeof FEED;
export const FEED_TYPES = Object.keys(FEED) as FeedType[]; // the record's own keys

/** One event of the feed. */
export type FeedEvent = { [Type in FeedType]: z.infer<(typeof FEED)[Type]['body']> }[FeedType];

const bodies = Object.values(FEED).map(({ body }) => body);
// A table is never empty, which the type of a list does not say; nor does it pair each body with its type.
export const feedEvent = z.discriminatedUnion(
  'type',
  bodies as [(typeof bodies)[0], ...typeof bodies],
) as z.ZodType<FeedEvent>;
/** The events of rooms. */
export type RoomFeedEvent = Exclude<FeedEvent, { type: 'pool_low' | 'reference_alarm' }>;
/** An event of no room, without the fields that the store adds: its id, node and time. */
export type Announcement = AnnouncementOf<Exclude<FeedEvent, RoomFeedEvent>>;
type AnnouncementOf<Event> = Event extends FeedEvent
  ? Omit<Event, keyof typeof about | 'code' | 'ref' | 'rev' | 'userId'>
  : never;
