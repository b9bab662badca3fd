/** Reads the sessions of calls: no more at once than are to be held, and written into an answer, without a pause. */
import type { Queries } from '../database/database.ts';
import type { CallSession } from './calls.ts';
import { readSession, SESSION_COLUMNS, type SessionRow } from './rows.ts';
import { places } from './sql.ts';

/** Of one page. Some hundred kilobytes, and with SQLite some milliseconds in which the process does nothing else. */
export const SESSIONS_AT_ONCE = 2_000;

/** All sessions of these calls, by ref. Whoever asks knows that they are few enough. */
export async function sessionsOf(
  queries: Pick<Queries, 'rows'>,
  refs: readonly string[],
): Promise<Map<string, CallSession[]>> {
  const byRef = new Map<string, CallSession[]>(refs.map((ref) => [ref, []]));
  if (refs.length === 0) return byRef;
  const sql = `SELECT ${SESSION_COLUMNS} FROM signalbox_sessions WHERE ref IN ${places(refs.length)} ORDER BY ref, seq`;
  for (const row of await queries.rows(sql, refs)) {
    const session = readSession(row);
    byRef.get(session.ref)?.push(shown(session));
  }
  return byRef;
}

/** The sessions of one call, however many, as many at once as are to be held. Nothing where it has none. */
export async function* sessionsInParts(
  queries: Pick<Queries, 'rows'>,
  ref: string,
): AsyncGenerator<{ readonly sessions: CallSession[]; readonly goesOn: boolean }> {
  const sql =
    `SELECT ${SESSION_COLUMNS} FROM signalbox_sessions WHERE ref = ? AND seq > ? ` +
    `ORDER BY seq LIMIT ${SESSIONS_AT_ONCE + 1}`;
  let after: number | undefined = 0;
  while (after !== undefined) {
    // One more than is given says whether there are more.
    const rows: SessionRow[] = (await queries.rows(sql, [ref, after])).map(readSession);
    const some: SessionRow[] = rows.slice(0, SESSIONS_AT_ONCE);
    after = rows.length > some.length ? some.at(-1)?.seq : undefined;
    yield { sessions: some.map(shown), goesOn: after !== undefined };
  }
}

const shown = ({ userId, name, seq, joinedAt, leftAt, reason, mediaType }: SessionRow): CallSession => ({
  userId,
  name,
  seq,
  joinedAt,
  leftAt,
  reason,
  mediaType,
});
