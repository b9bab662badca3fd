/** What is asked of the records. SQLite answers in this very process: after each page everybody else has a turn. */
import { setImmediate } from 'node:timers/promises';
import { type Queries, readNumber } from '../database/database.ts';
import type { Call, CallPage, CallQuery, CallSession, Lost, Portion } from './calls.ts';
import { writeCursor } from './cursor.ts';
import { findHead, type Head, readHeads } from './heads.ts';
import { SESSIONS_AT_ONCE, sessionsInParts, sessionsOf } from './sessions.ts';

type Reading = Pick<Queries, 'rows'>;

/** Of an export. */
const PAGE = 100;

const LOST = `
  SELECT COALESCE(SUM(lost), 0) AS events, COALESCE(SUM(lost_signals), 0) AS signals FROM signalbox_feeds`;

export async function findCall(queries: Reading, ref: string): Promise<Call | undefined> {
  const head = await findHead(queries, ref);
  return head === undefined ? undefined : wholeCall(queries, head);
}

/** @throws CursorMalformed */
export async function listCalls(queries: Reading, query: CallQuery): Promise<CallPage> {
  const { heads, cursor } = await readPage(queries, query);
  const [first] = heads;
  const calls =
    first !== undefined && isLarge(first) ? [await wholeCall(queries, first)] : await withSessions(queries, heads);
  return { calls, cursor };
}

/** @throws CursorMalformed */
export async function* exportCalls(
  queries: Reading,
  { cursor: begin, ...filter }: Omit<CallQuery, 'limit'>,
): AsyncGenerator<Portion> {
  let cursor: string | null | undefined = begin;
  while (cursor !== null) {
    const page: HeadPage = await readPage(queries, { ...filter, cursor, limit: PAGE });
    const [first] = page.heads;
    if (first === undefined || !isLarge(first)) {
      yield { calls: await withSessions(queries, page.heads), goesOn: false };
      await setImmediate();
    } else {
      for await (const { sessions, goesOn } of sessionsInParts(queries, first.call.ref)) {
        yield { calls: [{ ...first.call, sessions }], goesOn };
        await setImmediate();
      }
    }
    ({ cursor } = page);
  }
}

export async function readLost(queries: Reading): Promise<Lost> {
  const [row] = await queries.rows(LOST);
  return { events: readNumber(row?.['events']), signals: readNumber(row?.['signals']) };
}

/** With more sessions than are held at once. */
const isLarge = ({ mostSessions }: Head): boolean => mostSessions > SESSIONS_AT_ONCE;

interface HeadPage {
  readonly heads: readonly Head[];
  readonly cursor: string | null;
}

/** As many as are asked for, or fewer where their sessions are many; a large one comes alone. */
async function readPage(queries: Reading, query: CallQuery): Promise<HeadPage> {
  // One more than is asked for says whether there are more.
  const found = await readHeads(queries, { ...query, limit: query.limit + 1 });
  let sessions = 0;
  const tooMany = found.findIndex((head, index) => {
    sessions += head.mostSessions;
    return index === query.limit || (index > 0 && sessions > SESSIONS_AT_ONCE);
  });
  const heads = tooMany === -1 ? found : found.slice(0, tooMany);
  const last = heads.at(-1);
  return { heads, cursor: tooMany === -1 || last === undefined ? null : writeCursor(last.call) };
}

async function withSessions(queries: Reading, heads: readonly Head[]): Promise<Call[]> {
  const sessions = await sessionsOf(
    queries,
    heads.map(({ call }) => call.ref),
  );
  return heads.map(({ call }) => ({ ...call, sessions: sessions.get(call.ref) ?? [] }));
}

async function wholeCall(queries: Reading, { call }: Head): Promise<Call> {
  const sessions: CallSession[] = [];
  for await (const part of sessionsInParts(queries, call.ref)) {
    sessions.push(...part.sessions);
    if (part.goesOn) await setImmediate();
  }
  return { ...call, sessions };
}
