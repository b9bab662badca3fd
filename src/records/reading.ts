/** What is asked of the records. */
import { type Database, type Row, readNumber, type Value } from '../database/database.ts';
import type { Call, CallPage, CallQuery, CallSession, Lost } from './calls.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { CALL_COLUMNS, readCall, readSession, SESSION_COLUMNS, type SessionRow } from './rows.ts';
import { places } from './sql.ts';

const COLUMNS = CALL_COLUMNS.split(', ')
  .map((name) => `c.${name}`)
  .join(', ');
const CALLS = `
  SELECT ${COLUMNS}, COALESCE(s.signals, 0) AS signals
  FROM signalbox_calls c LEFT JOIN signalbox_signals s ON s.ref = c.ref`;

const LOST = `
  SELECT COALESCE(SUM(lost), 0) AS events, COALESCE(SUM(lost_signals), 0) AS signals FROM signalbox_feeds`;

export async function findCall(database: Database, ref: string): Promise<Call | undefined> {
  const [call] = await withSessions(database, await database.rows(`${CALLS} WHERE c.ref = ?`, [ref]));
  return call;
}

/** @throws CursorMalformed */
export async function listCalls(database: Database, query: CallQuery): Promise<CallPage> {
  const { where, values } = conditions(query);
  // One more than is asked for says whether there are more.
  const order = `ORDER BY c.created_at DESC, c.ref DESC LIMIT ${Math.trunc(query.limit) + 1}`;
  const rows = await database.rows(`${CALLS} ${where} ${order}`, values);
  const calls = await withSessions(database, rows.slice(0, query.limit));
  const last = calls.at(-1);
  return { calls, cursor: rows.length > query.limit && last !== undefined ? writeCursor(last) : null };
}

export async function readLost(database: Database): Promise<Lost> {
  const [row] = await database.rows(LOST);
  return { events: readNumber(row?.['events']), signals: readNumber(row?.['signals']) };
}

function conditions({ from, to, code, user, cursor }: CallQuery): { where: string; values: Value[] } {
  const parts: [sql: string, ...values: Value[]][] = [];
  if (from !== undefined) parts.push(['c.created_at >= ?', from]);
  if (to !== undefined) parts.push(['c.created_at < ?', to]);
  if (code !== undefined) parts.push(['c.code = ?', code]);
  if (user !== undefined) parts.push(['c.ref IN (SELECT ref FROM signalbox_sessions WHERE user_id = ?)', user]);
  if (cursor !== undefined) {
    const { createdAt, ref } = readCursor(cursor);
    // The first part says nothing that the second does not, in a way that an index can be searched with.
    parts.push(['c.created_at <= ? AND (c.created_at < ? OR c.ref < ?)', createdAt, createdAt, ref]);
  }
  const where = parts.length === 0 ? '' : `WHERE ${parts.map(([sql]) => sql).join(' AND ')}`;
  return { where, values: parts.flatMap(([, ...values]) => values) };
}

async function withSessions(database: Database, rows: readonly Row[]): Promise<Call[]> {
  const read = rows.map((row) => ({ call: readCall(row), signals: readNumber(row['signals']) }));
  const sessions = await sessionsOf(
    database,
    read.map(({ call }) => call.ref),
  );
  return read.map(({ call, signals }) => {
    const { ref, code, type, name, createdAt, endedAt, reason, hostId, createdBy } = call;
    const { peakMembers, totalMembers, complete } = call;
    const about = { ref, code, type, name, createdAt, endedAt, reason, hostId, createdBy };
    return { ...about, peakMembers, totalMembers, signals, complete, sessions: sessions.get(ref) ?? [] };
  });
}

async function sessionsOf(database: Database, refs: readonly string[]): Promise<Map<string, CallSession[]>> {
  const byRef = new Map<string, CallSession[]>();
  if (refs.length === 0) return byRef;
  const rows = await database.rows(
    `SELECT ${SESSION_COLUMNS} FROM signalbox_sessions WHERE ref IN ${places(refs.length)} ORDER BY ref, seq`,
    refs,
  );
  for (const { ref, ...session } of rows.map((row): SessionRow => readSession(row))) {
    const known = byRef.get(ref);
    if (known === undefined) byRef.set(ref, [session]);
    else known.push(session);
  }
  return byRef;
}
