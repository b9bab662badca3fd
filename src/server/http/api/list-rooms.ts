/** The list of rooms. */
import { z } from 'zod';
import { word } from '../../../protocol/snapshot.ts';
import type { ServerContext } from '../../context.ts';
import { refuse } from '../../replies.ts';
import { EXAMPLES } from './examples.ts';
import { done, type Operation, operation } from './operation.ts';
import { createPages, MAX_PAGE_SIZE, readCursor, START } from './room-pages.ts';
import { count, cursor, listedRoom, shown, yesOrNo } from './schemas.ts';

const LIMIT = { least: 1, most: MAX_PAGE_SIZE, unlessGiven: 50 };

const asking = z.strictObject({
  type: word.clone().register(shown, { description: 'Of this type.' }).exactOptional(),
  locked: yesOrNo('Locked ones, or those that are not.').exactOptional(),
  empty: yesOrNo('Those with nobody in them, or the others.').exactOptional(),
  limit: count(LIMIT.least, LIMIT.most, LIMIT.unlessGiven, 'How many at most.').exactOptional(),
  cursor: cursor('Where an earlier page ended, as it said; with the same filter.').exactOptional(),
});

export function listOperations({ engine, options }: ServerContext): Operation[] {
  const page = createPages(engine);
  const listing = operation({
    id: 'listRooms',
    method: 'GET',
    path: '/rooms',
    scope: 'read',
    tag: 'rooms',
    summary: 'List rooms',
    about:
      'All rooms, in no order that means anything. A page may be short, or empty, while there is a cursor: the last page is ' +
      'the one without. A room that is there throughout is listed once; one that comes or goes meanwhile may be missed.',
    query: asking,
    answer: {
      statuses: { 200: 'Some rooms, and where the next ones begin: `cursor` is null at the end.' },
      body: z.object({ rooms: z.array(listedRoom), cursor: z.string().nullable() }),
      example: { rooms: [EXAMPLES.listedRoom], cursor: null },
    },
    problems: [],
    example: { query: { type: 'call', empty: 'false', limit: '20' } },
    async run({ query: { cursor: text, limit = LIMIT.unlessGiven, ...filter } }) {
      const from = text === undefined ? START : readCursor(text, options.codeDigits);
      if (from === undefined) return refuse('BAD_REQUEST', { message: 'The query, cursor: none of a page of rooms' });
      return done(200, await page(from, filter, limit));
    },
  });
  return [listing];
}
