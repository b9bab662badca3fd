/** Operations on call records: list, export, read. */
import { z } from 'zod';
import { ROOM_CODE_PATTERN, ROOM_REF_PATTERN, USER_ID_PATTERN } from '../../../protocol/ids.ts';
import { instant } from '../../../protocol/snapshot.ts';
import { type CallRecords, CursorMalformed, RecordsUnavailable } from '../../../records/port.ts';
import { type Refused, refuse } from '../../replies.ts';
import { callJson } from './call-json.ts';
import { EXPORTS, type ExportFormat, exportOf } from './calls-export.ts';
import { EXAMPLES } from './examples.ts';
import { type InputOf, type Operation, operation, operationSpec, respond } from './operation.ts';
import { cursorQuery, instantQuery, integerQuery, schemaDocs } from './schemas.ts';

/** @param records undefined when the server records no calls. */
export const callOperations = (records: CallRecords | undefined): Operation[] => [
  operation(LIST_CALLS, (input) => runListCalls(records, input)),
  operation(READ_CALL, (input) => runReadCall(records, input)),
];

const LIMIT = { min: 1, max: 200, default: 50 };
const RETRY_MS = 1000;

const participant = z
  .object({
    userId: z.string(),
    name: z.string().nullable(),
    seq: z.int().positive(),
    joinedAt: instant,
    leftAt: instant.nullable(),
    reason: z.string().nullable(),
    mediaType: z.string().nullable(),
  })
  .register(schemaDocs, { id: 'CallParticipant', description: 'One participant of a call, from joining to leaving.' });

const call = z
  .object({
    ref: z.string(),
    code: z
      .string()
      .register(schemaDocs, { description: 'Code of the room at that time; another room may have it now.' }),
    type: z.string(),
    name: z.string().nullable(),
    createdAt: instant,
    endedAt: instant.nullable().register(schemaDocs, { description: 'Null until the room has ended.' }),
    reason: z.string().nullable().register(schemaDocs, { description: 'Why the room ended.' }),
    hostId: z.string().nullable().register(schemaDocs, { description: 'The last host.' }),
    createdBy: z.string().nullable().register(schemaDocs, { description: 'Null when a back end created it.' }),
    peakMembers: z.int().nonnegative(),
    totalMembers: z.int().nonnegative(),
    signals: z.int().nonnegative(),
    complete: z.boolean().register(schemaDocs, { description: 'Whether every event of the room is in this record.' }),
    sessions: z.array(participant),
  })
  .register(schemaDocs, { id: 'Call', description: 'One room from its creation to its end.' });

const lostCounts = z
  .object({
    events: z
      .int()
      .nonnegative()
      .register(schemaDocs, { description: 'Events that were dropped before they were recorded.' }),
    signals: z.int().nonnegative().register(schemaDocs, {
      description: 'Signals that were not counted, because too many rooms were active at once.',
    }),
  })
  .register(schemaDocs, { id: 'Lost', description: 'What is missing from the records of all calls together.' });

const callList = z.object({ calls: z.array(call), cursor: z.string().nullable(), lost: lostCounts });

const listCallsQuery = z.strictObject({
  from: instantQuery('Created at this instant or later.').exactOptional(),
  to: instantQuery('Created before this instant.').exactOptional(),
  code: z
    .string()
    .regex(ROOM_CODE_PATTERN)
    .register(schemaDocs, { description: 'Only rooms with this code.' })
    .exactOptional(),
  user: z
    .string()
    .regex(USER_ID_PATTERN)
    .register(schemaDocs, { description: 'Only calls in which this user was a participant.' })
    .exactOptional(),
  limit: integerQuery(LIMIT, 'Maximum number of calls in the page; an export ignores it.').exactOptional(),
  cursor: cursorQuery('Cursor from an earlier page with the same filter.').exactOptional(),
  format: z
    .enum(['json', 'csv', 'ndjson'])
    .register(schemaDocs, { description: 'Overrides the header Accept, for clients that cannot set it.' })
    .exactOptional(),
});

const listCallsHeaders = z.looseObject({
  accept: z
    .string()
    .register(schemaDocs, { description: '`application/json`, or for an export `text/csv` or `application/x-ndjson`.' })
    .exactOptional(),
});

const LIST_CALLS = operationSpec({
  id: 'listCalls',
  method: 'GET',
  path: '/calls',
  scope: 'read',
  tag: 'calls',
  summary: 'List or export call records',
  description:
    'Call records, newest first. As `text/csv` or `application/x-ndjson` the response is an export: all records that ' +
    'match the filter, from the cursor on, in one response. A CSV file has one line per call, with instants in ISO 8601.',
  query: listCallsQuery,
  headers: listCallsHeaders,
  response: {
    statuses: {
      200: 'A page of calls, and the cursor of the next page, which is null at the end. `lost` covers all calls.',
    },
    body: callList,
    example: { calls: [EXAMPLES.call], cursor: null, lost: { events: 0, signals: 0 } },
    otherTypes: {
      [EXPORTS.csv.type]: EXPORTS.csv.head + EXPORTS.csv.line(EXAMPLES.callRecord),
      [EXPORTS.ndjson.type]: EXPORTS.ndjson.line(EXAMPLES.callRecord),
    },
  },
  problems: ['NOT_CONFIGURED'],
  example: { query: { from: '2026-01-01', to: '2026-02-01', limit: '20' } },
});

async function runListCalls(records: CallRecords | undefined, { query, headers }: InputOf<typeof LIST_CALLS>) {
  if (records === undefined) return noCallRecords();
  const { format = formatOf(headers.accept), limit = LIMIT.default, ...filter } = query;
  return refuseRecordErrors(async () => {
    if (format !== 'json') return await exportOf(records, filter, EXPORTS[format]);
    const [{ calls, cursor }, lost] = await Promise.all([records.list({ ...filter, limit }), records.lost()]);
    return respond(200, { calls: calls.map(callJson), cursor, lost });
  });
}

const READ_CALL = operationSpec({
  id: 'readCall',
  method: 'GET',
  path: '/calls/{ref}',
  scope: 'read',
  tag: 'calls',
  summary: 'Read a call record',
  description: 'The record of one room, by its ref, which is unique among all rooms.',
  params: z.object({
    ref: z.string().regex(ROOM_REF_PATTERN).register(schemaDocs, { description: 'Ref of the room.' }),
  }),
  response: { statuses: { 200: 'The record.' }, body: call, example: EXAMPLES.call },
  problems: ['NOT_FOUND', 'NOT_CONFIGURED'],
  example: { params: { ref: EXAMPLES.call.ref } },
});

async function runReadCall(records: CallRecords | undefined, { params }: InputOf<typeof READ_CALL>) {
  if (records === undefined) return noCallRecords();
  return refuseRecordErrors(async () => {
    const found = await records.find(params.ref);
    return found === undefined
      ? refuse('NOT_FOUND', { message: 'No call has this ref.' })
      : respond(200, callJson(found));
  });
}

const noCallRecords = () => refuse('NOT_CONFIGURED', { message: 'This server keeps no call records.' });

/** Turns errors of the records that a client can act on into refusals. */
async function refuseRecordErrors<Result>(query: () => Promise<Result>): Promise<Result | Refused> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof CursorMalformed) {
      return refuse('BAD_REQUEST', { message: 'The query, cursor: not a cursor of this list' });
    }
    if (error instanceof RecordsUnavailable) {
      return refuse('STORE_UNAVAILABLE', {
        message: 'The database of call records is unavailable; try again.',
        retryAfterMs: RETRY_MS,
      });
    }
    throw error;
  }
}

/** The first supported content type in the header; quality values are ignored. */
function formatOf(accept = ''): 'json' | ExportFormat {
  const named = /\b(application\/json|text\/csv|application\/x-ndjson)\b/i.exec(accept)?.[1]?.toLowerCase();
  if (named === 'text/csv') return 'csv';
  return named === 'application/x-ndjson' ? 'ndjson' : 'json';
}
