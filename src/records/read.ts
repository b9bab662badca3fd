/** Reads call records. SQLite answers inside this process, so other work gets a turn after every page. */
import { type Queries, readNumber } from '../database/database.ts';
import { type Clock, systemClock, turn } from '../support/clock.ts';
import { type CallSummary, findSummary, listSummaries } from './find-calls.ts';
import { writeCursor } from './page-cursor.ts';
import type { Call, CallChunk, CallPage, CallParticipant, CallQuery, LostCounts } from './port.ts';
import { PARTICIPANT_COLUMNS, type ParticipantRow, readParticipant } from './rows.ts';
import { placeholders } from './sql.ts';

type ReadQueries = Pick<Queries, 'rows'>;
type TurnClock = Pick<Clock, 'nextTurn'>;

/** Per page: some hundred kilobytes, and with SQLite some milliseconds during which the process does nothing else. */
const MAX_PARTICIPANTS = 2_000;
/** Calls per page of an export. */
const EXPORT_PAGE = 100;

const SELECT_LOST = `
  SELECT COALESCE(SUM(lost), 0) AS events, COALESCE(SUM(lost_signals), 0) AS signals FROM signalbox_feeds`;

export async function findCall(
  queries: ReadQueries,
  ref: string,
  clock: TurnClock = systemClock,
): Promise<Call | undefined> {
  const summary = await findSummary(queries, ref);
  return summary === undefined ? undefined : wholeCall(queries, summary, clock);
}

/** @throws CursorMalformed */
export async function listCalls(
  queries: ReadQueries,
  query: CallQuery,
  clock: TurnClock = systemClock,
): Promise<CallPage> {
  const { summaries, cursor } = await readPage(queries, query);
  const [first] = summaries;
  const calls =
    first !== undefined && isLarge(first)
      ? [await wholeCall(queries, first, clock)]
      : await withParticipants(queries, summaries);
  return { calls, cursor };
}

/** @throws CursorMalformed */
export async function* exportCalls(
  queries: ReadQueries,
  { cursor: start, ...filter }: Omit<CallQuery, 'limit'>,
  clock: TurnClock = systemClock,
): AsyncGenerator<CallChunk> {
  let cursor: string | null | undefined = start;
  while (cursor !== null) {
    const page: SummaryPage = await readPage(queries, { ...filter, cursor, limit: EXPORT_PAGE });
    const [first] = page.summaries;
    if (first === undefined || !isLarge(first)) {
      yield { calls: await withParticipants(queries, page.summaries), more: false };
      await turn(clock);
    } else {
      for await (const { participants, more } of participantChunks(queries, first.call.ref)) {
        yield { calls: [{ ...first.call, participants }], more };
        await turn(clock);
      }
    }
    ({ cursor } = page);
  }
}

export async function readLost(queries: ReadQueries): Promise<LostCounts> {
  const [row] = await queries.rows(SELECT_LOST);
  return { events: readNumber(row?.['events']), signals: readNumber(row?.['signals']) };
}

/** Whether its participants do not fit into one page. */
const isLarge = ({ maxParticipants }: CallSummary): boolean => maxParticipants > MAX_PARTICIPANTS;

interface SummaryPage {
  readonly summaries: readonly CallSummary[];
  readonly cursor: string | null;
}

/** As many calls as the limit, or fewer so that their participants fit into one page; a large call is a page of its own. */
async function readPage(queries: ReadQueries, query: CallQuery): Promise<SummaryPage> {
  // Reads one more than the limit, to know whether a next page exists.
  const found = await listSummaries(queries, { ...query, limit: query.limit + 1 });
  let participants = 0;
  const tooMany = found.findIndex((summary, index) => {
    participants += summary.maxParticipants;
    return index === query.limit || (index > 0 && participants > MAX_PARTICIPANTS);
  });
  const summaries = tooMany === -1 ? found : found.slice(0, tooMany);
  const last = summaries.at(-1);
  return { summaries, cursor: tooMany === -1 || last === undefined ? null : writeCursor(last.call) };
}

async function withParticipants(queries: ReadQueries, summaries: readonly CallSummary[]): Promise<Call[]> {
  const byRef = await participantsOf(
    queries,
    summaries.map(({ call }) => call.ref),
  );
  return summaries.map(({ call }) => ({ ...call, participants: byRef.get(call.ref) ?? [] }));
}

async function wholeCall(queries: ReadQueries, { call }: CallSummary, clock: TurnClock): Promise<Call> {
  const participants: CallParticipant[] = [];
  for await (const chunk of participantChunks(queries, call.ref)) {
    participants.push(...chunk.participants);
    if (chunk.more) await turn(clock);
  }
  return { ...call, participants };
}

/** All participants of these calls, by ref. The caller has checked that they fit into one page. */
async function participantsOf(queries: ReadQueries, refs: readonly string[]): Promise<Map<string, CallParticipant[]>> {
  const byRef = new Map<string, CallParticipant[]>(refs.map((ref) => [ref, []]));
  if (refs.length === 0) return byRef;
  const sql =
    `SELECT ${PARTICIPANT_COLUMNS} FROM signalbox_participants ` +
    `WHERE ref IN ${placeholders(refs.length)} ORDER BY ref, seq`;
  for (const row of await queries.rows(sql, refs)) {
    const participant = readParticipant(row);
    byRef.get(participant.ref)?.push(toParticipant(participant));
  }
  return byRef;
}

/** The participants of one call, a page at a time; no chunk when it has none. */
async function* participantChunks(
  queries: ReadQueries,
  ref: string,
): AsyncGenerator<{ readonly participants: CallParticipant[]; readonly more: boolean }> {
  const sql =
    `SELECT ${PARTICIPANT_COLUMNS} FROM signalbox_participants WHERE ref = ? AND seq > ? ` +
    `ORDER BY seq LIMIT ${MAX_PARTICIPANTS + 1}`;
  let after: number | undefined = 0;
  while (after !== undefined) {
    // Reads one more than it yields, to know whether another chunk follows.
    const rows: ParticipantRow[] = (await queries.rows(sql, [ref, after])).map(readParticipant);
    const page: ParticipantRow[] = rows.slice(0, MAX_PARTICIPANTS);
    after = rows.length > page.length ? page.at(-1)?.seq : undefined;
    yield { participants: page.map(toParticipant), more: after !== undefined };
  }
}

/** Drops the columns that only the database needs. */
const toParticipant = (row: ParticipantRow): CallParticipant => {
  const { userId, name, seq, joinedAt, leftAt, reason, mediaType } = row;
  return { userId, name, seq, joinedAt, leftAt, reason, mediaType };
};
