/** Webhooks as operators see them: the port of the REST API. Types alone. */
import type { DeadLetter } from './queue/queue.ts';

/** The figures of an endpoint, of all nodes together. */
export interface WebhookEndpoint {
  /** A short digest of its URL, the same on every node. */
  readonly id: string;
  /** Such as `https://example.org`: the rest of a URL may hold secrets, and is shown nowhere. */
  readonly origin: string;
  /** Events that wait, or are being sent. */
  readonly pending: number;
  /** Dead letters that are kept. */
  readonly dead: number;
  /** Dead letters that were deleted to make room for newer ones. */
  readonly dropped: number;
  /** Events that were trimmed from the feed before they were queued: nobody can send them. */
  readonly lost: number;
  /** The last failure, of any event, even when others have been delivered since. */
  readonly lastError?: { readonly reason: string; readonly at: number };
  /** When an event was last delivered, in milliseconds since 1970. */
  readonly lastDeliveredAt?: number;
}

export interface DeadLetters {
  /** The newest first. */
  readonly letters: readonly DeadLetter[];
  /** Where the next page begins; null at the end. */
  readonly cursor: string | null;
}

export interface Webhooks {
  /** @throws StoreUnavailable */
  endpoints(): Promise<readonly WebhookEndpoint[]>;
  /**
   * @param page `cursor` is the one of an earlier page, otherwise the newest come first; `limit` is 1 or more.
   * @returns undefined when there is no such endpoint, or the cursor is none.
   * @throws StoreUnavailable
   */
  deadLetters(
    id: string,
    page: { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<DeadLetters | undefined>;
  /**
   * Sends dead letters again. Each goes to the end of its room's queue, so they arrive in the order of the replay.
   *
   * @param which events by their ids; all dead letters unless given. Ids of which there is no dead letter are ignored.
   * @returns how many are sent again; undefined when there is no such endpoint.
   * @throws StoreUnavailable
   */
  replay(id: string, which?: { readonly eventIds?: readonly string[] | undefined }): Promise<number | undefined>;
}
