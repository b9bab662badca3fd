/** Call records: what is known of a room after it has ended. The port that the server knows. */

/** One seat of a call, from its taking to its end. Instants are milliseconds since 1970, by the store's clock. */
export interface CallParticipant {
  readonly userId: string;
  readonly name: string | null;
  /** Order of joining, from 1. */
  readonly seq: number;
  readonly joinedAt: number;
  /** Null while it lasts. */
  readonly leftAt: number | null;
  /** Why it ended: `left`, `lost`, `kicked`, or why the room did. */
  readonly reason: string | null;
  /** What it sent last, in its own word. */
  readonly mediaType: string | null;
}

/** One room from its creation to its end. */
export interface Call {
  readonly ref: string;
  readonly code: string;
  readonly type: string;
  readonly name: string | null;
  readonly createdAt: number;
  /** Null while it lasts. */
  readonly endedAt: number | null;
  /** Why the room ended; `unknown` when its store forgot it. */
  readonly reason: string | null;
  /** The last host; null when there was none. */
  readonly hostId: string | null;
  /** Null when a back end created it. */
  readonly createdBy: string | null;
  /** The most seats that were taken at once. */
  readonly peakMembers: number;
  /** How many users have had a seat. */
  readonly totalMembers: number;
  /** Signals handed on between members. */
  readonly signals: number;
  /** Whether every event of the room is in this record. */
  readonly complete: boolean;
  /** In the order of joining. */
  readonly participants: readonly CallParticipant[];
}

/** Which calls; newest first. */
export interface CallQuery {
  /** Created at this instant or later. */
  readonly from?: number | undefined;
  /** Created before this instant. */
  readonly to?: number | undefined;
  readonly code?: string | undefined;
  /** Somebody who had a seat. */
  readonly user?: string | undefined;
  /** Where an earlier page ended. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface CallPage {
  readonly calls: readonly Call[];
  /** For the next page; null behind the last call. */
  readonly cursor: string | null;
}

/** Some calls of an export. One with very many sessions comes alone, in several portions, each with some of them. */
export interface CallChunk {
  readonly calls: readonly Call[];
  /** Whether the next portion has further sessions of the last of these calls. */
  readonly more: boolean;
}

/** What is in no record, over all nodes, since the tables were made. */
export interface LostCounts {
  /** Dropped before they could be recorded, or such as cannot be. */
  readonly events: number;
  /** Of more rooms than could be counted while the database was away. */
  readonly signals: number;
}

export interface CallRecords {
  /** For people: where they are kept. Without credentials. */
  readonly description: string;
  /** @throws RecordsUnavailable when the database does not answer. */
  lost(): Promise<LostCounts>;
  /** @throws RecordsUnavailable when the database does not answer. */
  find(ref: string): Promise<Call | undefined>;
  /**
   * Fewer calls than are asked for where they have very many sessions, but one at least; the cursor says whether there
   * are more.
   *
   * @throws RecordsUnavailable when the database does not answer.
   * @throws CursorMalformed when the cursor is none of its own.
   */
  list(query: CallQuery): Promise<CallPage>;
  /** All of them, a portion at a time: everything else goes on in between. Throws, while it is read, what `list` does. */
  export(filter: Omit<CallQuery, 'limit'>): AsyncIterable<CallChunk>;
  /** Counts signals of a room; written some moments later, together with those of other rooms. */
  countSignals(ref: string, count: number): void;
  close(): Promise<void>;
}

/** The database does not answer. */
export class RecordsUnavailable extends Error {
  override readonly name = 'RecordsUnavailable';
}

/** A cursor that no page has ended with. */
export class CursorMalformed extends Error {
  override readonly name = 'CursorMalformed';
}
