/** Finds calls without their participants: some milliseconds per page, however many calls and participants there are. */
import { type Queries, type Row, readNumber, type Value } from '../database/database.ts';
import { readCursor } from './page-cursor.ts';
import type { Call, CallQuery } from './port.ts';
import { CALL_COLUMNS, LAST_SEQ, readCall } from './rows.ts';

export interface CallSummary {
  readonly call: Omit<Call, 'participants'>;
  /** Upper bound of the number of participants: their highest sequence number, known without counting them. */
  readonly maxParticipants: number;
}

const COLUMNS = CALL_COLUMNS.split(', ')
  .map((name) => `c.${name}`)
  .join(', ');
const SELECT = `SELECT ${COLUMNS}, COALESCE(s.signals, 0) AS signals, ${LAST_SEQ}`;
const JOIN_SIGNALS = 'LEFT JOIN signalbox_signals s ON s.ref = c.ref';
const NEWEST_FIRST = 'ORDER BY c.created_at DESC, c.ref DESC';

export async function findSummary(queries: Pick<Queries, 'rows'>, ref: string): Promise<CallSummary | undefined> {
  const [row] = await queries.rows(`${SELECT} FROM signalbox_calls c ${JOIN_SIGNALS} WHERE c.ref = ?`, [ref]);
  return row === undefined ? undefined : summaryOf(row);
}

/**
 * @returns newest first.
 * @throws CursorMalformed
 */
export async function listSummaries(queries: Pick<Queries, 'rows'>, query: CallQuery): Promise<CallSummary[]> {
  // A code has few calls, which are then filtered by user; without a code, the index of the user's calls is walked.
  const { sql, values } =
    query.user === undefined || query.code !== undefined ? selectCalls(query) : selectByUser(query, query.user);
  return (await queries.rows(sql, values)).map(summaryOf);
}

interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}
type Condition = readonly [sql: string, ...values: Value[]];

function selectCalls({ code, user, ...page }: CallQuery): Statement {
  const conditions = pageConditions(page, 'c.created_at', 'c.ref');
  if (code !== undefined) conditions.push(['c.code = ?', code]);
  const hasUser = 'EXISTS (SELECT 1 FROM signalbox_participants u WHERE u.user_id = ? AND u.ref = c.ref)';
  if (user !== undefined) conditions.push([hasUser, user]);
  const { where, values } = whereOf(conditions);
  return {
    sql: `${SELECT} FROM signalbox_calls c ${JOIN_SIGNALS} ${where} ${NEWEST_FIRST} LIMIT ${Math.trunc(page.limit)}`,
    values,
  };
}

function selectByUser(query: CallQuery, user: string): Statement {
  const { where, values } = whereOf([['u.user_id = ?', user], ...pageConditions(query, 'u.called_at', 'u.ref')]);
  const ofUser = `
    SELECT DISTINCT u.called_at, u.ref FROM signalbox_participants u ${where}
    ORDER BY u.called_at DESC, u.ref DESC LIMIT ${Math.trunc(query.limit)}`;
  return {
    sql: `${SELECT} FROM (${ofUser}) m JOIN signalbox_calls c ON c.ref = m.ref ${JOIN_SIGNALS} ${NEWEST_FIRST}`,
    values,
  };
}

/** @param createdAt column of the instant at which a call was created. */
function pageConditions(
  { from, to, cursor }: Omit<CallQuery, 'code' | 'user'>,
  createdAt: string,
  ref: string,
): Condition[] {
  const conditions: Condition[] = [];
  if (from !== undefined) conditions.push([`${createdAt} >= ?`, from]);
  if (to !== undefined) conditions.push([`${createdAt} < ?`, to]);
  if (cursor !== undefined) {
    const after = readCursor(cursor);
    // The first comparison is implied by the second, but only the first one can use an index.
    const isAfter = `${createdAt} <= ? AND (${createdAt} < ? OR ${ref} < ?)`;
    conditions.push([isAfter, after.createdAt, after.createdAt, after.ref]);
  }
  return conditions;
}

const whereOf = (conditions: readonly Condition[]): { readonly where: string; readonly values: Value[] } => ({
  where: conditions.length === 0 ? '' : `WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`,
  values: conditions.flatMap(([, ...values]) => values),
});

function summaryOf(row: Row): CallSummary {
  const { ref, code, type, name, createdAt, endedAt, reason, hostId, createdBy, ...rest } = readCall(row);
  const { peakMembers, totalMembers, complete } = rest;
  const about = { ref, code, type, name, createdAt, endedAt, reason, hostId, createdBy };
  return {
    call: { ...about, peakMembers, totalMembers, signals: readNumber(row['signals']), complete },
    maxParticipants: readNumber(row['last_seq'] ?? 0),
  };
}
