/** The operation that lists rooms. */
import { z } from 'zod';
import { word } from '../../../protocol/snapshot.ts';
import type { ServerContext } from '../../context.ts';
import { refuse } from '../../replies.ts';
import { EXAMPLES } from './examples.ts';
import { type InputOf, type Operation, operation, operationSpec, respond } from './operation.ts';
import { createPages, MAX_PAGE_SIZE, type ReadPage, readCursor, START } from './room-pages.ts';
import { booleanQuery, cursorQuery, integerQuery, listedRoom, schemaDocs } from './schemas.ts';

export function listOperations({ engine, options }: ServerContext): Operation[] {
  const readPage = createPages(engine);
  return [operation(LIST_ROOMS, (input) => runListRooms(readPage, options.codeDigits, input))];
}

const LIMIT = { min: 1, max: MAX_PAGE_SIZE, default: 50 };

const listRoomsQuery = z.strictObject({
  type: word.clone().register(schemaDocs, { description: 'Only rooms of this type.' }).exactOptional(),
  locked: booleanQuery('Only locked rooms (true), or only unlocked rooms (false).').exactOptional(),
  empty: booleanQuery('Only rooms without members (true), or only rooms with members (false).').exactOptional(),
  limit: integerQuery(LIMIT, 'Maximum number of rooms in the page.').exactOptional(),
  cursor: cursorQuery('Cursor from an earlier page with the same filter.').exactOptional(),
});

const LIST_ROOMS = operationSpec({
  id: 'listRooms',
  method: 'GET',
  path: '/rooms',
  scope: 'read',
  tag: 'rooms',
  summary: 'List rooms',
  description:
    'Lists all rooms, in no meaningful order. A page may be short or empty although more pages follow: only a null ' +
    '`cursor` marks the last page. A room that exists during the whole listing appears exactly once; a room that is ' +
    'created or ends meanwhile may be missing.',
  query: listRoomsQuery,
  response: {
    statuses: { 200: 'A page of rooms, and the cursor of the next page, which is null at the end.' },
    body: z.object({ rooms: z.array(listedRoom), cursor: z.string().nullable() }),
    example: { rooms: [EXAMPLES.listedRoom], cursor: null },
  },
  problems: [],
  example: { query: { type: 'call', empty: 'false', limit: '20' } },
});

async function runListRooms(
  readPage: ReadPage,
  codeDigits: number,
  { query: { cursor, limit = LIMIT.default, ...filter } }: InputOf<typeof LIST_ROOMS>,
) {
  const from = cursor === undefined ? START : readCursor(cursor, codeDigits);
  if (from === undefined) return refuse('BAD_REQUEST', { message: 'The query, cursor: not a cursor of this list' });
  return respond(200, await readPage(from, filter, limit));
}
