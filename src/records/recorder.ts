/**
 * Writes what the feed says into the records. Any number of nodes may do so: the records of a page and the place in the
 * feed behind it are written in one transaction, by whoever is first, so every event is recorded once and nobody leads.
 * A node that dies between reading and writing leaves nothing behind; the next begins where it had begun.
 */
import type { Database, Queries, Row, Value } from '../database/database.ts';
import type { Feed } from '../engine/feed.ts';
import type { FeedEvent, RoomFeedEvent } from '../protocol/feed.ts';
import type { Log } from '../support/log.ts';
import { move, placeOf } from './feeds.ts';
import { type Batch, type Changes, record, seatName } from './fold.ts';
import {
  CALL_COLUMNS,
  type CallRow,
  readCall,
  readSession,
  SESSION_COLUMNS,
  valuesOfCall,
  valuesOfSession,
} from './rows.ts';
import { places, upsert } from './sql.ts';

export interface RecorderParts {
  readonly database: Database;
  readonly feed: Feed;
  /** The name of the feed in the database: the same on all nodes that read it, and nobody else's. */
  readonly feedName: string;
  /** How long a room lasts at most. */
  readonly maxAgeMs: number;
  readonly clock: { now(): number };
  readonly log: Log;
}

/** With SQLite the process stands still while a page is written: it is to take some milliseconds, no more. */
const PAGE = 200;

/**
 * Records one page.
 *
 * @returns whether there is more to be read at once.
 * @throws what the database and the feed throw; nothing, or all of the page, has been recorded then.
 */
export async function recordPage(parts: RecorderParts): Promise<boolean> {
  const { database, feed, feedName, clock, log } = parts;
  const from = await placeOf(database, feedName, clock.now());
  const page = await feed.read({ after: from === '' ? undefined : from, limit: PAGE });
  if (page.position === undefined || page.position === from) return false;
  const step = { feed: feedName, from, to: page.position, lost: page.lost, now: clock.now() };
  const moved = await database.transaction(async (queries) => {
    if (!(await move(queries, step))) return false;
    await write(queries, parts, page.events.filter(isOfRoom));
    return true;
  });
  // Somebody else is at it, and will be: two that hurry would only be in each other's way.
  if (!moved) return false;
  if (page.lost > 0) log.warn({ lost: page.lost }, 'events were dropped before they could be recorded');
  return page.events.length === PAGE;
}

const isOfRoom = (event: FeedEvent): event is RoomFeedEvent => event.ref !== null;

async function write(queries: Queries, parts: RecorderParts, events: readonly RoomFeedEvent[]): Promise<void> {
  if (events.length === 0) return;
  const batch = await load(queries, events);
  const changes = record(batch, events, { feed: parts.feedName, maxAgeMs: parts.maxAgeMs });
  await save(queries, parts.database, changes);
}

/** What there is of the rooms and the users that the events are about; not of others, however many sat there. */
async function load(queries: Queries, events: readonly RoomFeedEvent[]): Promise<Batch> {
  const refs = [...new Set(events.map(({ ref }) => ref))];
  const calls = await queries.rows(
    `SELECT ${CALL_COLUMNS} FROM signalbox_calls WHERE ref IN ${places(refs.length)}`,
    refs,
  );
  const known = calls.map(readCall);
  // Of a call that is new nobody has had a seat.
  const pairs = pairsOf(events, new Set(known.map(({ ref }) => ref)));
  const taken = (await ofPairs(queries, SESSION_COLUMNS, pairs, 'AND left_at IS NULL')).map(readSession);
  const ever = await ofPairs(queries, 'DISTINCT ref, user_id', pairs, '');
  return {
    calls: new Map(known.map((call) => [call.ref, call])),
    seats: new Map(taken.map((seat) => [seatName(seat.ref, seat.userId), seat])),
    known: new Set(ever.map((row) => seatName(String(row['ref']), String(row['user_id'])))),
  };
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

async function save(queries: Queries, { dialect }: Database, { calls, sessions, abandoned }: Changes): Promise<void> {
  const rows = <T>(of: ReadonlyMap<string, T>, values: (row: T) => readonly Value[]) => [...of.values()].map(values);
  const toCalls = { table: 'signalbox_calls', columns: CALL_COLUMNS, keyed: 1 };
  const toSessions = { table: 'signalbox_sessions', columns: SESSION_COLUMNS, keyed: 2 };
  await upsert(queries, dialect, toCalls, rows(calls, valuesOfCall));
  await upsert(queries, dialect, toSessions, rows(sessions, valuesOfSession));
  for (const call of abandoned) await endSeats(queries, call);
}

async function endSeats(queries: Queries, { ref, endedAt, reason }: CallRow): Promise<void> {
  const sql = 'UPDATE signalbox_sessions SET left_at = ?, reason = ? WHERE ref = ? AND left_at IS NULL';
  await queries.run(sql, [endedAt, reason, ref]);
}
