/** Pages of the list of all rooms, read shard by shard, and the cursors between them. */
import type { Engine } from '../../../engine/engine.ts';
import { ROOM_CODE_PATTERN, type RoomCode } from '../../../protocol/ids.ts';
import type { ListedRoom } from '../../../room/outcomes.ts';
import { SHARDS, shardOf } from '../../../room/pool.ts';

/** Largest page size. */
export const MAX_PAGE_SIZE = 100;
/** Number of shards read in parallel: it grows as long as the shards yield too few rooms for the page. */
const PARALLEL_SHARDS = { first: 1, growth: 4, max: 20 };
/** Rooms that one request reads at most: a page ends here even if the filter let few of them through. */
const MAX_SCANNED = 2_000;

export interface RoomFilter {
  readonly type?: string;
  readonly locked?: boolean;
  readonly empty?: boolean;
}

/** Position of a page: after a room of a shard, or at the start of the shard. */
export interface PagePosition {
  readonly shard: number;
  readonly after?: RoomCode;
}

export const START: PagePosition = { shard: 0 };

export interface RoomPage {
  readonly rooms: ListedRoom[];
  /** Null at the end. */
  readonly cursor: string | null;
}

/** @throws StoreUnavailable */
export type ReadPage = (from: PagePosition, filter: RoomFilter, limit: number) => Promise<RoomPage>;

export function createPages(engine: Engine): ReadPage {
  /** Reads several shards in order: the first one from the position, the others from their start. */
  const readShards = ({ shard: first, after }: PagePosition, shards: number) =>
    Promise.all(
      Array.from({ length: Math.min(shards, SHARDS - first) }, async (_, index) => {
        const from = index === 0 && after !== undefined ? { after } : {};
        return await engine.apply({ kind: 'list', shard: first + index, limit: MAX_PAGE_SIZE, ...from });
      }),
    );

  return async (from, filter, limit) => {
    const rooms: ListedRoom[] = [];
    let position: PagePosition | undefined = from;
    let scanned = 0;
    let shardCount = PARALLEL_SHARDS.first;
    while (position !== undefined && rooms.length < limit && scanned < MAX_SCANNED) {
      const start: PagePosition = position;
      position = start.shard + shardCount < SHARDS ? { shard: start.shard + shardCount } : undefined;
      for (const [index, { rooms: found, more }] of (await readShards(start, shardCount)).entries()) {
        scanned += found.length;
        const end = collect(found, filter, limit, rooms);
        if (end !== undefined || more) {
          position = { shard: start.shard + index, ...afterOf(end ?? found.at(-1)) };
          break;
        }
      }
      shardCount = Math.min(shardCount * PARALLEL_SHARDS.growth, PARALLEL_SHARDS.max);
    }
    return { rooms, cursor: position === undefined ? null : writeCursor(position) };
  };
}

/** Adds matching rooms to the page. @returns the room that filled the page, or undefined. */
function collect(
  found: readonly ListedRoom[],
  filter: RoomFilter,
  limit: number,
  into: ListedRoom[],
): ListedRoom | undefined {
  for (const room of found) {
    if (matches(room, filter)) into.push(room);
    if (into.length === limit) return room;
  }
  return undefined;
}

const matches = (room: ListedRoom, { type, locked, empty }: RoomFilter): boolean =>
  (type === undefined || room.type === type) &&
  (locked === undefined || room.locked === locked) &&
  (empty === undefined || (room.memberCount === 0) === empty);

const afterOf = (room: ListedRoom | undefined) => (room === undefined ? {} : { after: room.code });

const writeCursor = ({ shard, after }: PagePosition): string =>
  Buffer.from(after === undefined ? String(shard) : `${shard}:${after}`).toString('base64url');

/** @returns undefined for text that is not a cursor of this list. */
export function readCursor(text: string, codeDigits: number): PagePosition | undefined {
  const [, digits = '', code] = /^(\d{1,2})(?::(\d+))?$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (digits === '') return undefined;
  const shard = Number(digits);
  if (code === undefined) return { shard };
  if (code.length !== codeDigits || !ROOM_CODE_PATTERN.test(code)) return undefined;
  // Cast: pattern and length have just been checked.
  const after = code as RoomCode;
  return shardOf(after) === shard ? { shard, after } : undefined;
}
