/** The feed: all committed events, for back ends. The interface, and the laws that every engine obeys. */
import type { Announcement, FeedEvent } from '../protocol/feed.ts';

/**
 * A position behind an event of the feed, opaque. In another feed, or after the feed was emptied, it is not valid: reading
 * then begins with the oldest event.
 */
export type FeedPosition = string;

/** Dedupe key of an announcement: the pool alarm once, reference alarms once for each item type. */
export const dedupeKey = (announcement: Announcement): string =>
  announcement.type === 'reference_alarm' ? `${announcement.type}:${announcement.itemType}` : announcement.type;

export interface FeedPage {
  /** Oldest first. */
  readonly events: readonly FeedEvent[];
  /** The position behind the last event. Undefined when nothing has ever been read. */
  readonly position: FeedPosition | undefined;
  /**
   * The number of events behind `after` that were dropped before they could be read. Without a valid position, the number
   * of all dropped events.
   */
  readonly lost: number;
  /** The store's clock was set by this much between the event before the page and its first one. */
  readonly shiftedMs?: number;
}

/**
 * Laws:
 * - A change and its events in the feed are committed in one step of the store.
 * - The events of a room are in the order of their revisions, without gaps and without duplicates.
 * - The newest `feedMaxEvents` events are kept. All nodes read the same ones.
 * - With `feedMaxEvents` 0 nothing is appended, and there is nothing to read.
 */
export interface Feed {
  /** The same on all nodes that read this feed. Another feed of the same Redis has another name. */
  readonly name: string;
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
   * Calls the listener with the events that this node commits, soon after. Not reliable: a consumer that must not miss any
   * uses `read`.
   *
   * @returns a function that removes the listener
   */
  listen(listener: (event: FeedEvent) => void): () => void;
}
