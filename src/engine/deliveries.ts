/** Which event is still to be told to whom: the queues of the endpoints of webhooks. The port, and its laws. */
import type { FeedEvent, FeedType } from '../protocol/feed.ts';

/** A short digest of an endpoint's address, `[A-Za-z0-9_-]+`: the same on every node. */
export type EndpointId = string;

/** The head of one room's queue, taken by one node for the time of its lease. */
export interface Delivery {
  /** Whose queue: opaque, one for each room, and one for the events that belong to none. */
  readonly lane: string;
  readonly eventId: string;
  /** The event as JSON text, as it is in the feed. */
  readonly body: string;
  /** How often it has failed so far. */
  readonly failures: number;
  /** Tells this taking of it from others. */
  readonly ticket: number;
}

export interface Taken {
  /** The longest due first, one of each room. */
  readonly deliveries: readonly Delivery[];
  /** More events are new than one call looks at. */
  readonly more: boolean;
  /** Events that this call has found to be kept no more by the feed: nobody can send them. */
  readonly lost: number;
}

export type Verdict =
  | { readonly kind: 'delivered' }
  /** It is tried again after `retryMs`, or becomes a dead letter when it was queued `giveUpMs` ago. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryMs: number; readonly giveUpMs: number }
  /** It was not tried to its end, which says nothing of the endpoint: another node may take it at once. */
  | { readonly kind: 'released' };

export interface Settled {
  /** False: the lease had ended and another has taken it since, or it is gone. Nothing was changed. */
  readonly current: boolean;
  /** It is tried no more. */
  readonly died: boolean;
  /** The room's next event, taken as well. */
  readonly next: Delivery | undefined;
}

export interface Buried {
  readonly event: FeedEvent;
  readonly attempts: number;
  /** Of the last attempt. */
  readonly reason: string;
  readonly at: number;
}

export interface BuriedPage {
  readonly letters: readonly Buried[];
  /** Where the next page begins, opaque; undefined at the end. */
  readonly next: string | undefined;
}

export interface DeliveryFigures {
  /** Events in the queues, those that are taken too. */
  readonly pending: number;
  readonly dead: number;
  /** Dead letters that had to make room for newer ones. */
  readonly dropped: number;
  /** See {@link Taken.lost}, since the endpoint is known. */
  readonly lost: number;
  readonly lastError: { readonly reason: string; readonly at: number } | undefined;
  readonly lastDeliveredAt: number | undefined;
}

/** How many new events one call looks at, so that none keeps the store busy for long. */
export const MOST_READ = 250;
/** Dead letters that are kept of each endpoint. */
export const MOST_DEAD = 10_000;
/** However old it is: an event that waited behind others for a day has its chances too. */
export const LEAST_ATTEMPTS = 5;
/** How many dead letters one call replays. */
export const MOST_REPLAYED = 250;
/** Of an endpoint that nobody has asked for in so long, nothing is kept in a shared store. */
export const FORGOTTEN_AFTER_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Laws:
 * - Any node may make any call at any time. What a call does to one room's queue is one step; a call may be several of
 *   them, for a store can be in parts, and many dead letters are replayed a few at a time.
 * - An event is queued once for each endpoint, whoever asks; a room's events in the order of the feed.
 * - Of each room at most one event is taken, the oldest: the next only after that one was delivered, or died.
 * - What is taken and not settled is taken again when its lease has ended. So each event is sent at least once.
 * - A failure holds back its own room alone.
 * - An endpoint is known from the first time that somebody takes for it; events before that are none of its.
 * - An endpoint's queues hold `most` events; what comes then stays in the feed, as long as that keeps it.
 */
export interface Deliveries {
  /**
   * Queues what is new in the feed for an endpoint, then takes the heads of rooms that are due.
   *
   * @throws StoreUnavailable
   */
  take(endpoint: EndpointId, ask: TakeAsk): Promise<Taken>;
  /**
   * Says what became of a delivery.
   *
   * @param again takes the room's next event, for so long; else it is due at once.
   * @throws StoreUnavailable Whether it is settled is not known; if not, its lease will end.
   */
  settle(
    endpoint: EndpointId,
    delivery: Pick<Delivery, 'lane' | 'eventId' | 'ticket'>,
    verdict: Verdict,
    again?: { readonly leaseMs: number },
  ): Promise<Settled>;
  /** @throws StoreUnavailable */
  figures(endpoint: EndpointId): Promise<DeliveryFigures>;
  /**
   * Dead letters, the newest first.
   *
   * @param ask `after` is where an earlier page ended. A store in several parts tells them one part after the other.
   * @returns undefined when `after` is no such place.
   * @throws StoreUnavailable
   */
  dead(
    endpoint: EndpointId,
    ask: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<BuriedPage | undefined>;
  /**
   * Puts dead letters back behind what waits of their rooms, the oldest first, as if they were queued now.
   *
   * @param eventIds all that were dead when the call began, unless given. Others than dead ones are passed over.
   * @returns how many
   * @throws StoreUnavailable Some may be queued again; repeating the call goes on with the others.
   */
  replay(endpoint: EndpointId, eventIds?: readonly string[]): Promise<number>;
}

export interface TakeAsk {
  /** Of which events; undefined for all. Asked for when an event is queued. */
  readonly types: readonly FeedType[] | undefined;
  /** Takes at most one event of so many rooms; 0 only queues. */
  readonly rooms: number;
  /** For how long they are taken. */
  readonly leaseMs: number;
  readonly most: number;
  /** Where an endpoint begins that the store does not know; `oldest` for one that it knew, before it was emptied. */
  readonly from: 'end' | 'oldest';
}
