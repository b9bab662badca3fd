/** What an operator sees of webhooks, and can do about them. The port: types alone. */
import type { FeedEvent } from '../protocol/feed.ts';

/** How an endpoint does, on all nodes together. */
export interface WebhookEndpoint {
  /** A short digest of its URL, the same on every node. */
  readonly id: string;
  /** Such as `https://example.org`: the rest of a URL may hold secrets, and is shown nowhere. */
  readonly origin: string;
  /** Events that wait, or are being sent. */
  readonly pending: number;
  /** Dead letters that are kept. */
  readonly dead: number;
  /** Older dead letters that are kept no more. */
  readonly dropped: number;
  /** Events that the feed kept no more when their turn came: nobody can send them. */
  readonly lost: number;
  /** The last failure, of whichever event, also when others have been delivered since. */
  readonly lastError?: { readonly reason: string; readonly at: number };
  /** When it last took an event, in milliseconds since 1970. */
  readonly lastDeliveredAt?: number;
}

/** An event that is tried no more, until somebody replays it. */
export interface DeadLetter {
  readonly event: FeedEvent;
  /** How often it was tried. */
  readonly attempts: number;
  /** Why the last attempt failed, for people. */
  readonly reason: string;
  /** When it was given up, in milliseconds since 1970. */
  readonly at: number;
}

export interface DeadPage {
  /** The newest first. */
  readonly letters: readonly DeadLetter[];
  /** Where the next page begins; null at the end. */
  readonly cursor: string | null;
}

export interface Webhooks {
  /** @throws StoreUnavailable */
  endpoints(): Promise<readonly WebhookEndpoint[]>;
  /**
   * @param page `cursor` is the one of an earlier page, else reading begins with the newest; `limit` is 1 or more.
   * @returns undefined when there is no such endpoint, or the cursor is none.
   * @throws StoreUnavailable
   */
  dead(
    id: string,
    page: { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<DeadPage | undefined>;
  /**
   * Sends dead letters again, each behind what waits of its room: the order is then the one of the replay.
   *
   * @param which events by their ids; all dead letters unless given. Ids of which there is no dead letter are passed over.
   * @returns how many are sent again; undefined when there is no such endpoint.
   * @throws StoreUnavailable
   */
  replay(id: string, which?: { readonly eventIds?: readonly string[] | undefined }): Promise<number | undefined>;
}
