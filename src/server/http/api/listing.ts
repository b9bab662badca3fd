/** All rooms, shard by shard. */
import { z } from 'zod';
import type { RoomCode } from '../../../protocol/ids.ts';
import { ROOM_CODE_PATTERN } from '../../../protocol/ids.ts';
import { word } from '../../../protocol/snapshot.ts';
import type { ListedRoom } from '../../../room/commands.ts';
import { SHARDS, shardOf } from '../../../room/pool.ts';
import { refuse } from '../../answers.ts';
import type { House } from '../../house.ts';
import { EXAMPLES } from './examples.ts';
import { done, type Operation, operation } from './operation.ts';
import { count, cursor, listedRoom, shown, yesOrNo } from './schemas.ts';

const LIMIT = { least: 1, most: 100, unlessGiven: 50 };
/** Shards that are asked at once: one, and more of them while they have little to tell. */
const WAVE = { first: 1, growth: 4, most: 20 };
/** Rooms that a shard is asked for: as many as the largest page has. */
const OF_SHARD = LIMIT.most;
/** After so many rooms a page ends, however few of them it was asked for: one request has little to do. */
const MOST_LOOKED_AT = 2_000;

const asking = z.strictObject({
  type: word.clone().register(shown, { description: 'Of this type.' }).exactOptional(),
  locked: yesOrNo('Locked ones, or those that are not.').exactOptional(),
  empty: yesOrNo('Those with nobody in them, or the others.').exactOptional(),
  limit: count(LIMIT.least, LIMIT.most, LIMIT.unlessGiven, 'How many at most.').exactOptional(),
  cursor: cursor('Where an earlier page ended, as it said; with the same filter.').exactOptional(),
});
type Filter = Pick<z.output<typeof asking>, 'type' | 'locked' | 'empty'>;

/** Behind a room, or before all of a shard. */
interface Place {
  readonly shard: number;
  readonly after?: RoomCode;
}

const START: Place = { shard: 0 };

export function listOperations({ engine, options }: House): Operation[] {
  /** The next rooms of some shards, in order: of the first behind the place, of the others from their beginning. */
  const look = ({ shard: first, after }: Place, shards: number) =>
    Promise.all(
      Array.from({ length: Math.min(shards, SHARDS - first) }, async (_, index) => {
        const from = index === 0 && after !== undefined ? { after } : {};
        return await engine.apply({ kind: 'list', shard: first + index, limit: OF_SHARD, ...from });
      }),
    );

  const page = async (from: Place, filter: Filter, limit: number) => {
    const rooms: ListedRoom[] = [];
    let place: Place | undefined = from;
    let lookedAt = 0;
    let wave = WAVE.first;
    while (place !== undefined && rooms.length < limit && lookedAt < MOST_LOOKED_AT) {
      const start: Place = place;
      place = start.shard + wave < SHARDS ? { shard: start.shard + wave } : undefined;
      for (const [index, { rooms: found, more }] of (await look(start, wave)).entries()) {
        lookedAt += found.length;
        const end = take(found, filter, limit, rooms);
        if (end !== undefined || more) {
          place = { shard: start.shard + index, ...afterOf(end ?? found.at(-1)) };
          break;
        }
      }
      wave = Math.min(wave * WAVE.growth, WAVE.most);
    }
    return { rooms, cursor: place === undefined ? null : writeCursor(place) };
  };

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

/** @returns the room at which the page is full, if it is. */
function take(found: readonly ListedRoom[], filter: Filter, limit: number, into: ListedRoom[]): ListedRoom | undefined {
  for (const room of found) {
    if (fits(room, filter)) into.push(room);
    if (into.length === limit) return room;
  }
  return undefined;
}

const fits = (room: ListedRoom, { type, locked, empty }: Filter): boolean =>
  (type === undefined || room.type === type) &&
  (locked === undefined || room.locked === locked) &&
  (empty === undefined || (room.memberCount === 0) === empty);

const afterOf = (room: ListedRoom | undefined) => (room === undefined ? {} : { after: room.code });

const writeCursor = ({ shard, after }: Place): string =>
  Buffer.from(after === undefined ? String(shard) : `${shard}:${after}`).toString('base64url');

function readCursor(text: string, codeDigits: number): Place | undefined {
  const [, digits = '', code] = /^(\d{1,2})(?::(\d+))?$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (digits === '') return undefined;
  const shard = Number(digits);
  if (code === undefined) return { shard };
  if (code.length !== codeDigits || !ROOM_CODE_PATTERN.test(code)) return undefined;
  // The pattern and the length are what the brand promises.
  const after = code as RoomCode;
  return shardOf(after) === shard ? { shard, after } : undefined;
}
