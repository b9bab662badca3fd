/** Pages of all rooms, shard by shard, and the cursors between them. */
import type { Engine } from '../../../engine/engine.ts';
import { ROOM_CODE_PATTERN, type RoomCode } from '../../../protocol/ids.ts';
import type { ListedRoom } from '../../../room/outcomes.ts';
import { SHARDS, shardOf } from '../../../room/pool.ts';

/** Rooms of the largest page. */
export const MAX_PAGE_SIZE = 100;
/** Shards that are asked at once: one, and more of them while they have little to tell. */
const WAVE = { first: 1, growth: 4, most: 20 };
/** After so many rooms a page ends, however few of them it was asked for: one request has little to do. */
const MAX_SCANNED = 2_000;

export interface Filter {
  readonly type?: string;
  readonly locked?: boolean;
  readonly empty?: boolean;
}

/** Behind a room, or before all of a shard. */
export interface Place {
  readonly shard: number;
  readonly after?: RoomCode;
}

export const START: Place = { shard: 0 };

export interface RoomPage {
  readonly rooms: ListedRoom[];
  /** Null at the end. */
  readonly cursor: string | null;
}

/** @throws StoreUnavailable */
export type ReadPage = (from: Place, filter: Filter, limit: number) => Promise<RoomPage>;

export function createPages(engine: Engine): ReadPage {
  /** The next rooms of some shards, in order: of the first behind the place, of the others from their beginning. */
  const look = ({ shard: first, after }: Place, shards: number) =>
    Promise.all(
      Array.from({ length: Math.min(shards, SHARDS - first) }, async (_, index) => {
        const from = index === 0 && after !== undefined ? { after } : {};
        return await engine.apply({ kind: 'list', shard: first + index, limit: MAX_PAGE_SIZE, ...from });
      }),
    );

  return async (from, filter, limit) => {
    const rooms: ListedRoom[] = [];
    let place: Place | undefined = from;
    let lookedAt = 0;
    let wave = WAVE.first;
    while (place !== undefined && rooms.length < limit && lookedAt < MAX_SCANNED) {
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

/** @returns undefined for what no page has ended with. */
export function readCursor(text: string, codeDigits: number): Place | undefined {
  const [, digits = '', code] = /^(\d{1,2})(?::(\d+))?$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (digits === '') return undefined;
  const shard = Number(digits);
  if (code === undefined) return { shard };
  if (code.length !== codeDigits || !ROOM_CODE_PATTERN.test(code)) return undefined;
  // The pattern and the length are what the brand promises.
  const after = code as RoomCode;
  return shardOf(after) === shard ? { shard, after } : undefined;
}
