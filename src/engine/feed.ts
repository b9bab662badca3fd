/** The feed: every committed event, for back ends. The port, and its laws. */
import type { Announcement, FeedEvent } from '../protocol/feed.ts';

/**
 * A place behind an event of the feed, opaque. It means nothing to another feed, or to the same one after it has been
 * emptied: reading then begins with the oldest event there is.
 */
export type FeedPosition = string;

/** Dedupe key of an announcement: the pool alarm once, reference alarms once for each item type. */
export const dedupeKey = (announcement: Announcement): string =>
  announcement.type === 'reference_alarm' ? `${announcement.type}:${announcement.itemType}` : announcement.type;

export interface FeedPage {
  /** Oldest first. */
  readonly events: readonly FeedEvent[];
  /** Behind the last of them; where reading goes on. Undefined when nothing has ever been read. */
  readonly position: FeedPosition | undefined;
  /**
   * Events that have come since `after` and are kept no more: nobody can read them. Without a position that means
   * something here, all that were let go of: nobody has read those.
   */
  readonly lost: number;
}

/**
 * Laws:
 * - An event is in the feed as soon as what it tells of is true, and for good: one step of the store does both.
 * - A room's events stand in the order of their revisions, none is missing, none stands there twice.
 * - The newest `feedMaxEvents` events are kept, all nodes read the same ones.
 * - Where `feedMaxEvents` is 0 nothing is written, and there is nothing to read.
 */
export interface Feed {
  /**
   * @param ask `after` is the position of an earlier page; without it, reading begins with the oldest event.
   * @throws StoreUnavailable
   */
  read(ask: { readonly after?: FeedPosition | undefined; readonly limit: number }): Promise<FeedPage>;
  /**
   * Appends an event that belongs to no room: once within `dedupeMs`, however many nodes announce it.
   *
   * @throws StoreUnavailable
   */
  announce(announcement: Announcement, dedupeMs: number): Promise<void>;
  /**
   * Hears the events that this node commits, right after they are. Whoever must not miss one reads.
   *
   * @returns a function that ends it
   */
  listen(hear: (event: FeedEvent) => void): () => void;
}
