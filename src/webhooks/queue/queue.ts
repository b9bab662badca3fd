/** The queue of webhooks: which event is still to be sent to which endpoint. The port, and its laws. */
import type { FeedEvent, FeedType } from '../../protocol/feed.ts';

/** A short digest of an endpoint's URL, `[A-Za-z0-9_-]+`: the same on every node. */
export type EndpointId = string;

/** The head of one room's queue, claimed by one node until its lease ends. */
export interface Delivery {
  /** Opaque: there is a queue for each room, and one for the events that belong to no room. */
  readonly roomQueue: string;
  readonly eventId: string;
  /** The event as JSON text, as it is in the feed. */
  readonly body: string;
  /** Attempts that have failed so far. */
  readonly failures: number;
  /** Fencing token: tells this claim from earlier and later ones. */
  readonly claimToken: number;
}

export interface Claimed {
  /** The longest due first, at most one for each room. */
  readonly deliveries: readonly Delivery[];
  /** There are more new events than one call reads. */
  readonly more: boolean;
  /** Events that this call has found to be trimmed from the feed before they were queued: nobody can send them. */
  readonly lost: number;
  /** The store's clock; undefined when that is the clock of this process. */
  readonly now?: number | undefined;
}

export type DeliveryResult =
  | { readonly kind: 'delivered' }
  /** It is tried again after `retryMs`, or becomes a dead letter when it was queued `giveUpMs` ago. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryMs: number; readonly giveUpMs: number }
  /** The attempt was aborted, which says nothing about the endpoint: another node may claim it at once. */
  | { readonly kind: 'released' };

export interface Completed {
  /** False: the lease had ended and another node has claimed it since, or it is gone. Nothing was changed. */
  readonly current: boolean;
  /** It has become a dead letter. */
  readonly dead: boolean;
  /** The room's next event, claimed as well. */
  readonly next: Delivery | undefined;
}

/** An event that is tried no more, until it is replayed. */
export interface DeadLetter {
  readonly event: FeedEvent;
  readonly attempts: number;
  /** Why the last attempt failed, for people. */
  readonly reason: string;
  /** When the last attempt failed, in milliseconds since 1970. */
  readonly at: number;
}

export interface DeadLetterPage {
  readonly letters: readonly DeadLetter[];
  /** Where the next page begins, opaque; undefined at the end. */
  readonly next: string | undefined;
}

export interface QueueStats {
  /** Events in the queues, claimed ones included. */
  readonly pending: number;
  readonly dead: number;
  /** Dead letters that were deleted to make room for newer ones. */
  readonly dropped: number;
  /** See {@link Claimed.lost}, since the endpoint is known. */
  readonly lost: number;
  readonly lastError: { readonly reason: string; readonly at: number } | undefined;
  readonly lastDeliveredAt: number | undefined;
}

/** New events that one call reads, so that none keeps the store busy for long. */
export const MAX_READ = 250;
/** Dead letters that are kept of each endpoint. */
export const MAX_DEAD_LETTERS = 10_000;
/** Before an event becomes a dead letter, however old it is: it may have waited behind others for a day. */
export const MIN_ATTEMPTS = 5;
/** Dead letters that one call replays. */
export const MAX_REPLAYED = 250;
/** How long a shared store keeps the queues of an endpoint that no node claims for. */
export const UNUSED_TTL_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Laws:
 * - Any node may make any call at any time. What a call does to one room's queue is one atomic step; a call may be several
 *   steps, because a store can be partitioned, and many dead letters are replayed in batches.
 * - An event is queued once for each endpoint, whichever nodes claim; a room's events in the order of the feed.
 * - Of each room at most one event is claimed, the oldest: the next only after that one was delivered, or is dead.
 * - A delivery that is claimed and not completed can be claimed again when its lease has ended. So each event is sent at
 *   least once.
 * - A failure holds back its own room alone.
 * - An endpoint is known from the first claim for it; earlier events are not queued for it.
 * - An endpoint's queues hold `maxPending` events; later ones stay in the feed, as long as that keeps them.
 */
export interface WebhookQueue {
  /**
   * Queues what is new in the feed for an endpoint, then claims the heads of room queues that are due.
   *
   * @throws StoreUnavailable
   */
  claim(endpoint: EndpointId, request: ClaimRequest): Promise<Claimed>;
  /**
   * Completes a delivery with its result.
   *
   * @param claimNext claims the room's next event, for so long; otherwise it is due at once.
   * @throws StoreUnavailable Whether it is completed is not known; if not, its lease will end.
   */
  complete(
    endpoint: EndpointId,
    delivery: Pick<Delivery, 'roomQueue' | 'eventId' | 'claimToken'>,
    result: DeliveryResult,
    claimNext?: { readonly leaseMs: number },
  ): Promise<Completed>;
  /** @throws StoreUnavailable */
  stats(endpoint: EndpointId): Promise<QueueStats>;
  /**
   * Dead letters, the newest first.
   *
   * @param page `after` is the `next` of an earlier page. A partitioned store lists one partition after the other.
   * @returns undefined when `after` is no such place.
   * @throws StoreUnavailable
   */
  deadLetters(
    endpoint: EndpointId,
    page: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<DeadLetterPage | undefined>;
  /**
   * Moves dead letters to the end of their rooms' queues, the oldest first, as if they were queued now.
   *
   * @param eventIds all that were dead when the call began, unless given. Ids of which there is no dead letter are ignored.
   * @returns how many
   * @throws StoreUnavailable Some may be queued again; repeating the call goes on with the others.
   */
  replay(endpoint: EndpointId, eventIds?: readonly string[]): Promise<number>;
}

export interface ClaimRequest {
  /** Types of events to queue; undefined for all. */
  readonly types: readonly FeedType[] | undefined;
  /** Claims at most one event of so many rooms; 0 only queues. */
  readonly maxRooms: number;
  readonly leaseMs: number;
  readonly maxPending: number;
  /** Where to begin for an endpoint that the store does not know; `oldest` for one that it knew before it was emptied. */
  readonly from: 'end' | 'oldest';
}
