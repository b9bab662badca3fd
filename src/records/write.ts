/** Writes events into the call records: loads the rows they concern, applies the events, and saves what changed. */
import { type Database, type Queries, type Row, readNumber, type Value } from '../database/database.ts';
import type { RoomFeedEvent } from '../protocol/feed.ts';
import { applyEvents, type Changes, index, type LoadedRecords, seatKey } from './reduce.ts';
import {
  CALL_COLUMNS,
  type CallRow,
  LAST_SEQ,
  PARTICIPANT_COLUMNS,
  type ParticipantRow,
  readCall,
  readParticipant,
  valuesOfCall,
  valuesOfParticipant,
} from './rows.ts';
import { placeholders, upsert } from './sql.ts';

export interface WriteDeps {
  readonly database: Pick<Database, 'dialect'>;
  /** Name of the feed in the database: the same on all nodes that read it, and used by no other feed. */
  readonly feedName: string;
  /** Longest lifetime of a room. */
  readonly maxAgeMs: number;
}

/** @param queries of a transaction. */
export async function writeEvents(
  queries: Queries,
  { database, feedName, maxAgeMs }: WriteDeps,
  events: readonly RoomFeedEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const records = await load(queries, events);
  await saveChanges(queries, database, applyEvents(records, events, { feed: feedName, maxAgeMs }));
}

/** @param queries of a transaction. */
export async function saveChanges(
  queries: Queries,
  { dialect }: Pick<Database, 'dialect'>,
  { calls, participants, abandoned, recreated }: Changes,
): Promise<void> {
  const rows = <T>(of: ReadonlyMap<string, T>, values: (row: T) => readonly Value[]) => [...of.values()].map(values);
  const intoCalls = { table: 'signalbox_calls', columns: CALL_COLUMNS, keyed: 1 };
  const intoParticipants = { table: 'signalbox_participants', columns: PARTICIPANT_COLUMNS, keyed: 2 };
  await upsert(queries, dialect, intoCalls, rows(calls, valuesOfCall));
  // Before the participants are written: one that joined again after that end must stay open.
  for (const call of abandoned) await endSeats(queries, call);
  await upsert(queries, dialect, intoParticipants, rows(participants, valuesOfParticipant));
  for (const { createdAt, ref } of recreated) {
    await queries.run('UPDATE signalbox_participants SET called_at = ? WHERE ref = ?', [createdAt, ref]);
  }
}

/** Loads the calls and users that the events name. Other participants of a call are not loaded: there may be very many. */
async function load(queries: Queries, events: readonly RoomFeedEvent[]): Promise<LoadedRecords> {
  const refs = [...new Set(events.map(({ ref }) => ref))];
  const rows = await queries.rows(
    `SELECT ${CALL_COLUMNS}, ${LAST_SEQ} FROM signalbox_calls c WHERE ref IN ${placeholders(refs.length)}`,
    refs,
  );
  const calls = rows.map(readCall);
  // A call that is not recorded yet has no participants to look for.
  const pairs = pairsOf(events, new Set(calls.map(({ ref }) => ref)));
  const seated = (await selectPairs(queries, PARTICIPANT_COLUMNS, pairs, 'AND left_at IS NULL')).map(readParticipant);
  const ever = await selectPairs(queries, 'DISTINCT ref, user_id', pairs, '');
  const records: LoadedRecords = {
    calls: new Map(calls.map((call) => [call.ref, call])),
    seats: new Map(),
    everSeated: new Set(ever.map((row) => seatKey(String(row['ref']), String(row['user_id'])))),
    bySeq: new Map(),
    lastSeq: new Map(rows.map((row) => [String(row['ref']), readNumber(row['last_seq'] ?? 0)])),
  };
  for (const seat of seated) index(records, seat);
  for (const participant of await withReusedSeq(queries, records, events)) index(records, participant);
  return records;
}

/**
 * Participants whose sequence number an event gives to another one. That happens only after a store was set back, so
 * there is almost never anything to query.
 */
async function withReusedSeq(
  queries: Queries,
  { seats, lastSeq }: LoadedRecords,
  events: readonly RoomFeedEvent[],
): Promise<ParticipantRow[]> {
  const keys = events.flatMap((event) => {
    if (!('member' in event)) return [];
    const { ref, userId, member } = event;
    const isOwn = seats.get(seatKey(ref, userId))?.seq === member.seq;
    return isOwn || member.seq > (lastSeq.get(ref) ?? 0) ? [] : [[ref, member.seq] as const];
  });
  if (keys.length === 0) return [];
  const either = keys.map(() => '(ref = ? AND seq = ?)').join(' OR ');
  const sql = `SELECT ${PARTICIPANT_COLUMNS} FROM signalbox_participants WHERE ${either}`;
  return (await queries.rows(sql, keys.flat())).map(readParticipant);
}

type Pair = readonly [ref: string, userId: string];

function pairsOf(events: readonly RoomFeedEvent[], refs: ReadonlySet<string>): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const { ref, userId } of events) {
    if (userId !== null && refs.has(ref)) pairs.set(seatKey(ref, userId), [ref, userId]);
  }
  return [...pairs.values()];
}

async function selectPairs(queries: Queries, columns: string, pairs: readonly Pair[], and: string): Promise<Row[]> {
  if (pairs.length === 0) return [];
  const either = pairs.map(() => '(ref = ? AND user_id = ?)').join(' OR ');
  return queries.rows(`SELECT ${columns} FROM signalbox_participants WHERE (${either}) ${and}`, pairs.flat());
}

async function endSeats(queries: Queries, { ref, endedAt, reason }: CallRow): Promise<void> {
  const sql = 'UPDATE signalbox_participants SET left_at = ?, reason = ? WHERE ref = ? AND left_at IS NULL';
  await queries.run(sql, [endedAt, reason, ref]);
}
