/** The state of one shard: what the rules read, and the writes that they give back. */
import type { RoomCode, RoomRef } from '../protocol/ids.ts';
import { type Epoch, firstEpoch, shiftEpoch } from './epoch.ts';
import { type Room, type RoomKey, shiftRoom } from './room.ts';

export interface Shard {
  /** Occupied codes. */
  readonly rooms: ReadonlyMap<RoomCode, Room>;
  /** Released codes, and the instant until which they may not be used again. A code in neither map is free. */
  readonly cooling: ReadonlyMap<RoomCode, number>;
  /** The rooms made by creates with an idempotency key, by that key. */
  readonly idempotency: ReadonlyMap<string, IdempotencyRecord>;
  /** Rooms that a restore has given another code, by their refs; null for restored rooms that have ended. */
  readonly moved: ReadonlyMap<RoomRef, RoomCode | null>;
  readonly meta: ShardMeta;
}

export interface ShardMeta {
  readonly epoch: Epoch;
  /** When any node last ticked the shard; null before the first. */
  readonly tickedAt: number | null;
  /** Leases and rooms are not reaped before. */
  readonly noReapBefore: number;
}

export interface IdempotencyRecord extends RoomKey {
  readonly until: number;
}

/** The next state as a difference to the current one: `null` deletes. */
export interface Writes {
  readonly rooms?: ReadonlyMap<RoomCode, Room | null>;
  readonly cooling?: ReadonlyMap<RoomCode, number | null>;
  readonly idempotency?: ReadonlyMap<string, IdempotencyRecord | null>;
  readonly moved?: ReadonlyMap<RoomRef, RoomCode | null>;
  readonly meta?: Partial<ShardMeta>;
}

export interface MutableShard extends Shard {
  readonly rooms: Map<RoomCode, Room>;
  readonly cooling: Map<RoomCode, number>;
  readonly idempotency: Map<string, IdempotencyRecord>;
  readonly moved: Map<RoomRef, RoomCode | null>;
  meta: ShardMeta;
}

export const createShard = (now = 0): MutableShard => ({
  rooms: new Map(),
  cooling: new Map(),
  idempotency: new Map(),
  moved: new Map(),
  meta: { epoch: firstEpoch(now), tickedAt: null, noReapBefore: now },
});

/** Brings the shard to its next state. */
export function applyWrites(shard: MutableShard, writes: Writes): void {
  put(shard.rooms, writes.rooms);
  put(shard.cooling, writes.cooling);
  put(shard.idempotency, writes.idempotency);
  for (const [ref, code] of writes.moved ?? []) shard.moved.set(ref, code);
  shard.meta = { ...shard.meta, ...writes.meta };
}

/** Moves all instants, because the clock that they were taken from was set by `ms`. */
export function shiftShard(shard: MutableShard, ms: number): void {
  const { rooms, cooling, idempotency, meta } = shard;
  for (const [code, room] of rooms) rooms.set(code, shiftRoom(room, ms));
  for (const [code, until] of cooling) cooling.set(code, until + ms);
  for (const [key, record] of idempotency) idempotency.set(key, { ...record, until: record.until + ms });
  shard.meta = {
    epoch: shiftEpoch(meta.epoch, ms),
    tickedAt: meta.tickedAt === null ? null : meta.tickedAt + ms,
    noReapBefore: meta.noReapBefore + ms,
  };
}

function put<Key, Value>(map: Map<Key, Value>, writes: ReadonlyMap<Key, Value | null> = new Map()): void {
  for (const [key, value] of writes) {
    if (value === null) map.delete(key);
    else map.set(key, value);
  }
}
