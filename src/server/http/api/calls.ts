/** Call records: what is known of rooms after they have ended, and while they last. */
import { z } from 'zod';
import { ROOM_CODE_PATTERN, ROOM_REF_PATTERN, USER_ID_PATTERN } from '../../../protocol/ids.ts';
import { instant } from '../../../protocol/snapshot.ts';
import { type CallRecords, CursorMalformed, RecordsUnavailable } from '../../../records/port.ts';
import { type Refused, refuse } from '../../replies.ts';
import { callJson } from './call-json.ts';
import { EXPORTS, type ExportFormat, exportOf } from './calls-export.ts';
import { EXAMPLES } from './examples.ts';
import { done, type Operation, operation } from './operation.ts';
import { count, cursor, instantOf, shown } from './schemas.ts';

const LIMIT = { least: 1, most: 200, unlessGiven: 50 };
const RETRY_MS = 1000;

const session = z
  .object({
    userId: z.string(),
    name: z.string().nullable(),
    seq: z.int().positive(),
    joinedAt: instant,
    leftAt: instant.nullable(),
    reason: z.string().nullable(),
    mediaType: z.string().nullable(),
  })
  .register(shown, { id: 'CallParticipant', description: 'One participant of a call, from joining to leaving.' });

const call = z
  .object({
    ref: z.string(),
    code: z.string().register(shown, { description: 'What it went by then; it may be another room’s by now.' }),
    type: z.string(),
    name: z.string().nullable(),
    createdAt: instant,
    endedAt: instant.nullable().register(shown, { description: 'Null while it lasts.' }),
    reason: z.string().nullable().register(shown, { description: 'Why it ended.' }),
    hostId: z.string().nullable().register(shown, { description: 'The last host.' }),
    createdBy: z.string().nullable().register(shown, { description: 'Null when a back end created it.' }),
    peakMembers: z.int().nonnegative(),
    totalMembers: z.int().nonnegative(),
    signals: z.int().nonnegative(),
    complete: z.boolean().register(shown, { description: 'Whether every event of the room is in this record.' }),
    sessions: z.array(session),
  })
  .register(shown, { id: 'Call', description: 'One room from its creation to its end.' });

const lost = z
  .object({
    events: z.int().nonnegative().register(shown, { description: 'Dropped before they could be recorded.' }),
    signals: z.int().nonnegative().register(shown, { description: 'Not counted, of too many rooms at once.' }),
  })
  .register(shown, { id: 'Lost', description: 'What is in no record, of all calls that there ever were.' });

const listing = z.object({ calls: z.array(call), cursor: z.string().nullable(), lost });

const asking = z.strictObject({
  from: instantOf('Created then or later.').exactOptional(),
  to: instantOf('Created before that.').exactOptional(),
  code: z.string().regex(ROOM_CODE_PATTERN).register(shown, { description: 'Of this code.' }).exactOptional(),
  user: z
    .string()
    .regex(USER_ID_PATTERN)
    .register(shown, { description: 'In which this user had a seat.' })
    .exactOptional(),
  limit: count(LIMIT.least, LIMIT.most, LIMIT.unlessGiven, 'How many at most; an export has all.').exactOptional(),
  cursor: cursor('Where an earlier page ended, as it said; with the same filter.').exactOptional(),
  format: z
    .enum(['json', 'csv', 'ndjson'])
    .register(shown, { description: 'What the header Accept says, for those who cannot set it.' })
    .exactOptional(),
});

const accepting = z.looseObject({
  accept: z
    .string()
    .register(shown, { description: '`application/json`, or for an export `text/csv` or `application/x-ndjson`.' })
    .exactOptional(),
});

/** @param records undefined where none are kept. */
export const callOperations = (records: CallRecords | undefined): Operation[] => [
  listingOf(records),
  readingOf(records),
];

const listingOf = (records: CallRecords | undefined) =>
  operation({
    id: 'listCalls',
    method: 'GET',
    path: '/calls',
    scope: 'read',
    tag: 'calls',
    summary: 'List call records, or export them',
    about:
      'Call records, newest first. As `text/csv` or `application/x-ndjson` it is an export: all that the filter lets ' +
      'through, from the cursor on, in one answer. A CSV has a line for each call, with instants in ISO 8601.',
    query: asking,
    headers: accepting,
    answer: {
      statuses: {
        200: 'Some calls, and where the next ones begin: `cursor` is null at the end. `lost` is about all of them.',
      },
      body: listing,
      example: { calls: [EXAMPLES.call], cursor: null, lost: { events: 0, signals: 0 } },
      alsoAs: {
        [EXPORTS.csv.type]: EXPORTS.csv.head + EXPORTS.csv.line(EXAMPLES.callRecord),
        [EXPORTS.ndjson.type]: EXPORTS.ndjson.line(EXAMPLES.callRecord),
      },
    },
    problems: ['NOT_CONFIGURED'],
    example: { query: { from: '2026-01-01', to: '2026-02-01', limit: '20' } },
    async run({ query, headers }) {
      if (records === undefined) return keepsNone();
      const { format = formatOf(headers.accept), limit = LIMIT.unlessGiven, ...filter } = query;
      return orRefused(async () => {
        if (format !== 'json') return await exportOf(records, filter, EXPORTS[format]);
        const [{ calls, cursor }, lost] = await Promise.all([records.list({ ...filter, limit }), records.lost()]);
        return done(200, { calls: calls.map(callJson), cursor, lost });
      });
    },
  });

const readingOf = (records: CallRecords | undefined) =>
  operation({
    id: 'readCall',
    method: 'GET',
    path: '/calls/{ref}',
    scope: 'read',
    tag: 'calls',
    summary: 'Read a call record',
    about: 'The record of one room, by its ref, which no other room ever has.',
    params: z.object({ ref: z.string().regex(ROOM_REF_PATTERN).register(shown, { description: 'Of the room.' }) }),
    answer: { statuses: { 200: 'The record.' }, body: call, example: EXAMPLES.call },
    problems: ['NOT_FOUND', 'NOT_CONFIGURED'],
    example: { params: { ref: EXAMPLES.call.ref } },
    async run({ params }) {
      if (records === undefined) return keepsNone();
      return orRefused(async () => {
        const found = await records.find(params.ref);
        return found === undefined
          ? refuse('NOT_FOUND', { message: 'No call has this ref.' })
          : done(200, callJson(found));
      });
    },
  });

const keepsNone = () => refuse('NOT_CONFIGURED', { message: 'This server keeps no call records.' });

async function orRefused<Result>(ask: () => Promise<Result>): Promise<Result | Refused> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof CursorMalformed) {
      return refuse('BAD_REQUEST', { message: 'The query, cursor: none of a page of calls' });
    }
    if (error instanceof RecordsUnavailable) {
      return refuse('STORE_UNAVAILABLE', {
        message: 'The call records do not answer; try again.',
        retryAfterMs: RETRY_MS,
      });
    }
    throw error;
  }
}

/** The first of ours that is named; nobody weighs them against each other. */
function formatOf(accept = ''): 'json' | ExportFormat {
  const named = /\b(application\/json|text\/csv|application\/x-ndjson)\b/i.exec(accept)?.[1]?.toLowerCase();
  if (named === 'text/csv') return 'csv';
  return named === 'application/x-ndjson' ? 'ndjson' : 'json';
}
