/** Finds calls, without their sessions: a page of some milliseconds, of however many there are and whoever sat in them. */
import { type Queries, type Row, readNumber, type Value } from '../database/database.ts';
import type { Call, CallQuery } from './calls.ts';
import { readCursor } from './cursor.ts';
import { CALL_COLUMNS, LAST_SEQ, readCall } from './rows.ts';

export interface Head {
  readonly call: Omit<Call, 'sessions'>;
  /** How many sessions it has at the most. */
  readonly mostSessions: number;
}

const COLUMNS = CALL_COLUMNS.split(', ')
  .map((name) => `c.${name}`)
  .join(', ');
const WANTED = `SELECT ${COLUMNS}, COALESCE(s.signals, 0) AS signals, ${LAST_SEQ}`;
const SIGNALS = 'LEFT JOIN signalbox_signals s ON s.ref = c.ref';
const NEWEST_FIRST = 'ORDER BY c.created_at DESC, c.ref DESC';

export async function findHead(queries: Pick<Queries, 'rows'>, ref: string): Promise<Head | undefined> {
  const [row] = await queries.rows(`${WANTED} FROM signalbox_calls c ${SIGNALS} WHERE c.ref = ?`, [ref]);
  return row === undefined ? undefined : headOf(row);
}

/**
 * @returns newest first.
 * @throws CursorMalformed
 */
export async function readHeads(queries: Pick<Queries, 'rows'>, query: CallQuery): Promise<Head[]> {
  // By code there are few, among which the user is looked for; else the user's calls are walked.
  const { sql, values } =
    query.user === undefined || query.code !== undefined ? amongCalls(query) : ofUser(query, query.user);
  return (await queries.rows(sql, values)).map(headOf);
}

interface Asked {
  readonly sql: string;
  readonly values: readonly Value[];
}
type Condition = readonly [sql: string, ...values: Value[]];

function amongCalls({ code, user, ...place }: CallQuery): Asked {
  const conditions = placed(place, 'c.created_at', 'c.ref');
  if (code !== undefined) conditions.push(['c.code = ?', code]);
  const isIn = 'EXISTS (SELECT 1 FROM signalbox_sessions u WHERE u.user_id = ? AND u.ref = c.ref)';
  if (user !== undefined) conditions.push([isIn, user]);
  const { where, values } = written(conditions);
  return {
    sql: `${WANTED} FROM signalbox_calls c ${SIGNALS} ${where} ${NEWEST_FIRST} LIMIT ${Math.trunc(place.limit)}`,
    values,
  };
}

function ofUser(query: CallQuery, user: string): Asked {
  const { where, values } = written([['u.user_id = ?', user], ...placed(query, 'u.called_at', 'u.ref')]);
  const walk = `
    SELECT DISTINCT u.called_at, u.ref FROM signalbox_sessions u ${where}
    ORDER BY u.called_at DESC, u.ref DESC LIMIT ${Math.trunc(query.limit)}`;
  return {
    sql: `${WANTED} FROM (${walk}) m JOIN signalbox_calls c ON c.ref = m.ref ${SIGNALS} ${NEWEST_FIRST}`,
    values,
  };
}

/** @param at the column of the instant at which a call was created. */
function placed({ from, to, cursor }: Omit<CallQuery, 'code' | 'user'>, at: string, ref: string): Condition[] {
  const conditions: Condition[] = [];
  if (from !== undefined) conditions.push([`${at} >= ?`, from]);
  if (to !== undefined) conditions.push([`${at} < ?`, to]);
  if (cursor !== undefined) {
    const place = readCursor(cursor);
    // The first part says nothing that the second does not, in a way that an index can be searched with.
    const behind = `${at} <= ? AND (${at} < ? OR ${ref} < ?)`;
    conditions.push([behind, place.createdAt, place.createdAt, place.ref]);
  }
  return conditions;
}

const written = (conditions: readonly Condition[]): { readonly where: string; readonly values: Value[] } => ({
  where: conditions.length === 0 ? '' : `WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`,
  values: conditions.flatMap(([, ...values]) => values),
});

function headOf(row: Row): Head {
  const { ref, code, type, name, createdAt, endedAt, reason, hostId, createdBy, ...rest } = readCall(row);
  const { peakMembers, totalMembers, complete } = rest;
  const about = { ref, code, type, name, createdAt, endedAt, reason, hostId, createdBy };
  return {
    call: { ...about, peakMembers, totalMembers, signals: readNumber(row['signals']), complete },
    mostSessions: readNumber(row['last_seq'] ?? 0),
  };
}
