/** Port of the call records, as the server knows them. A call is what happened in one room, from its creation to its end. */
import type { StoreHealth } from '../support/store.ts';

/** One seat of a call, from joining to leaving. Instants are milliseconds since 1970, by the store's clock. */
export interface CallParticipant {
  readonly userId: string;
  readonly name: string | null;
  /** Order of joining, from 1. */
  readonly seq: number;
  readonly joinedAt: number;
  /** Null while the participant is in the call. */
  readonly leftAt: number | null;
  /** `left`, `lost` or `kicked`, or the reason why the room ended. */
  readonly reason: string | null;
  /** The last media type that the client sent. */
  readonly mediaType: string | null;
}

/** One room from its creation to its end. */
export interface Call {
  readonly ref: string;
  readonly code: string;
  readonly type: string;
  readonly name: string | null;
  readonly createdAt: number;
  /** Null while the call goes on. */
  readonly endedAt: number | null;
  /** Why the room ended; `unknown` without an end event. */
  readonly reason: string | null;
  /** The last host; null when there was none. */
  readonly hostId: string | null;
  /** Null when a back end created the room. */
  readonly createdBy: string | null;
  /** Highest number of members at the same time. */
  readonly peakMembers: number;
  /** Number of different users. */
  readonly totalMembers: number;
  /** Number of signals relayed between members. */
  readonly signals: number;
  /** False when events of the room were lost. */
  readonly complete: boolean;
  /** In the order of joining. */
  readonly participants: readonly CallParticipant[];
}

/** Filter and page of a list, newest call first. */
export interface CallQuery {
  /** Created at this instant or later. */
  readonly from?: number | undefined;
  /** Created before this instant. */
  readonly to?: number | undefined;
  readonly code?: string | undefined;
  /** Id of a participant. */
  readonly user?: string | undefined;
  /** The cursor of the previous page. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface CallPage {
  readonly calls: readonly Call[];
  /** For the next page; null on the last page. */
  readonly cursor: string | null;
}

/** Some calls of an export. A call with very many participants is split over several chunks, and is alone in each. */
export interface CallChunk {
  readonly calls: readonly Call[];
  /** Whether the next chunk has more participants of the last call. */
  readonly more: boolean;
}

/** Counts of unrecorded events and signals, of all nodes, since the tables were created. */
export interface LostCounts {
  /** Events that were dropped unread, or skipped because the database refused them. */
  readonly events: number;
  /** Signals that exceeded the buffer while the database was away. */
  readonly signals: number;
}

export interface CallRecords {
  /** Where the records are kept, without credentials. For people. */
  readonly description: string;
  /** @throws RecordsUnavailable when the database does not answer. */
  lost(): Promise<LostCounts>;
  /** @throws RecordsUnavailable when the database does not answer. */
  find(ref: string): Promise<Call | undefined>;
  /**
   * A page may have fewer calls than its limit, at least one, when they have very many participants; only the cursor tells
   * whether it is the last one.
   *
   * @throws RecordsUnavailable when the database does not answer.
   * @throws CursorMalformed when it is no cursor of a page.
   */
  list(query: CallQuery): Promise<CallPage>;
  /** All calls, a chunk at a time; other work goes on between chunks. Reading throws the errors of `list`. */
  export(filter: Omit<CallQuery, 'limit'>): AsyncIterable<CallChunk>;
  /** Adds to the signal count of a room. Written in batches, some seconds later. */
  countSignals(ref: string, count: number): void;
  /** Of the database, by what the records ask of it. */
  health(): StoreHealth;
  close(): Promise<void>;
}

/** The database does not answer. */
export class RecordsUnavailable extends Error {
  override readonly name = 'RecordsUnavailable';
}

/** A text that is no cursor of a page. */
export class CursorMalformed extends Error {
  override readonly name = 'CursorMalformed';
}
