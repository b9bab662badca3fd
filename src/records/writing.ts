/** Writes events into the records: reads what they are about, and replaces it by what they make of it. */
import { type Database, type Queries, type Row, readNumber, type Value } from '../database/database.ts';
import type { RoomFeedEvent } from '../protocol/feed.ts';
import { type Batch, type Changes, note, record, seatName } from './fold.ts';
import {
  CALL_COLUMNS,
  type CallRow,
  LAST_SEQ,
  readCall,
  readSession,
  SESSION_COLUMNS,
  type SessionRow,
  valuesOfCall,
  valuesOfSession,
} from './rows.ts';
import { places, upsert } from './sql.ts';

export interface WritingParts {
  readonly database: Pick<Database, 'dialect'>;
  /** The name of the feed in the database: the same on all nodes that read it, and nobody else's. */
  readonly feedName: string;
  /** How long a room lasts at most. */
  readonly maxAgeMs: number;
}

/** @param queries of a transaction. */
export async function writeEvents(
  queries: Queries,
  { database, feedName, maxAgeMs }: WritingParts,
  events: readonly RoomFeedEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const batch = await load(queries, events);
  await saveChanges(queries, database, record(batch, events, { feed: feedName, maxAgeMs }));
}

export async function saveChanges(
  queries: Queries,
  { dialect }: Pick<Database, 'dialect'>,
  { calls, sessions, abandoned, moved }: Changes,
): Promise<void> {
  const rows = <T>(of: ReadonlyMap<string, T>, values: (row: T) => readonly Value[]) => [...of.values()].map(values);
  const toCalls = { table: 'signalbox_calls', columns: CALL_COLUMNS, keyed: 1 };
  const toSessions = { table: 'signalbox_sessions', columns: SESSION_COLUMNS, keyed: 2 };
  await upsert(queries, dialect, toCalls, rows(calls, valuesOfCall));
  // First: whoever is known to sit there again after that end is written over it.
  for (const call of abandoned) await endSeats(queries, call);
  await upsert(queries, dialect, toSessions, rows(sessions, valuesOfSession));
  for (const { createdAt, ref } of moved) {
    await queries.run('UPDATE signalbox_sessions SET called_at = ? WHERE ref = ?', [createdAt, ref]);
  }
}

/** What there is of the rooms and the users that the events are about; not of others, however many sat there. */
async function load(queries: Queries, events: readonly RoomFeedEvent[]): Promise<Batch> {
  const refs = [...new Set(events.map(({ ref }) => ref))];
  const calls = await queries.rows(
    `SELECT ${CALL_COLUMNS}, ${LAST_SEQ} FROM signalbox_calls c WHERE ref IN ${places(refs.length)}`,
    refs,
  );
  const known = calls.map(readCall);
  // Of a call that is new nobody has had a seat.
  const pairs = pairsOf(events, new Set(known.map(({ ref }) => ref)));
  const taken = (await ofPairs(queries, SESSION_COLUMNS, pairs, 'AND left_at IS NULL')).map(readSession);
  const ever = await ofPairs(queries, 'DISTINCT ref, user_id', pairs, '');
  const batch: Batch = {
    calls: new Map(known.map((call) => [call.ref, call])),
    seats: new Map(),
    known: new Set(ever.map((row) => seatName(String(row['ref']), String(row['user_id'])))),
    numbers: new Map(),
    last: new Map(calls.map((row) => [String(row['ref']), readNumber(row['last_seq'] ?? 0)])),
  };
  for (const seat of taken) note(batch, seat);
  for (const session of await underNumbers(queries, batch, events)) note(batch, session);
  return batch;
}

/**
 * Sessions whose numbers are given to somebody once more, which happens after a store was set back: there is hardly ever
 * anything to ask.
 */
async function underNumbers(
  queries: Queries,
  { seats, last }: Batch,
  events: readonly RoomFeedEvent[],
): Promise<SessionRow[]> {
  const values = events.flatMap((event) => {
    if (!('member' in event)) return [];
    const { ref, userId, member } = event;
    const isOwn = seats.get(seatName(ref, userId))?.seq === member.seq;
    return isOwn || member.seq > (last.get(ref) ?? 0) ? [] : [[ref, member.seq] as const];
  });
  if (values.length === 0) return [];
  const either = values.map(() => '(ref = ? AND seq = ?)').join(' OR ');
  const sql = `SELECT ${SESSION_COLUMNS} FROM signalbox_sessions WHERE ${either}`;
  return (await queries.rows(sql, values.flat())).map(readSession);
}

type Pair = readonly [ref: string, userId: string];

function pairsOf(events: readonly RoomFeedEvent[], refs: ReadonlySet<string>): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const { ref, userId } of events) {
    if (userId !== null && refs.has(ref)) pairs.set(seatName(ref, userId), [ref, userId]);
  }
  return [...pairs.values()];
}

async function ofPairs(queries: Queries, what: string, pairs: readonly Pair[], also: string): Promise<Row[]> {
  if (pairs.length === 0) return [];
  const either = pairs.map(() => '(ref = ? AND user_id = ?)').join(' OR ');
  return queries.rows(`SELECT ${what} FROM signalbox_sessions WHERE (${either}) ${also}`, pairs.flat());
}

async function endSeats(queries: Queries, { ref, endedAt, reason }: CallRow): Promise<void> {
  const sql = 'UPDATE signalbox_sessions SET left_at = ?, reason = ? WHERE ref = ? AND left_at IS NULL';
  await queries.run(sql, [endedAt, reason, ref]);
}
