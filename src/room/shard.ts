/** The state of one shard: what the rules read, and the writes that they give back. */
import type { RoomCode } from '../protocol/ids.ts';
import { type Room, type RoomKey, shiftRoom } from './room.ts';

export interface Shard {
  /** Occupied codes. */
  readonly rooms: ReadonlyMap<RoomCode, Room>;
  /** Released codes, and the instant until which they may not be used again. A code in neither map is free. */
  readonly cooling: ReadonlyMap<RoomCode, number>;
  /** The rooms made by creates with an idempotency key, by that key. */
  readonly idempotency: ReadonlyMap<string, IdempotencyRecord>;
}

export interface IdempotencyRecord extends RoomKey {
  readonly until: number;
}

/** The next state as a difference to the current one: `null` deletes. */
export interface Writes {
  readonly rooms?: ReadonlyMap<RoomCode, Room | null>;
  readonly cooling?: ReadonlyMap<RoomCode, number | null>;
  readonly idempotency?: ReadonlyMap<string, IdempotencyRecord | null>;
}

export interface MutableShard extends Shard {
  readonly rooms: Map<RoomCode, Room>;
  readonly cooling: Map<RoomCode, number>;
  readonly idempotency: Map<string, IdempotencyRecord>;
}

export const createShard = (): MutableShard => ({ rooms: new Map(), cooling: new Map(), idempotency: new Map() });

/** Brings the shard to its next state. */
export function applyWrites(shard: MutableShard, writes: Writes): void {
  put(shard.rooms, writes.rooms);
  put(shard.cooling, writes.cooling);
  put(shard.idempotency, writes.idempotency);
}

/** Moves all instants, because the clock that they were taken from was set by `ms`. */
export function shiftShard({ rooms, cooling, idempotency }: MutableShard, ms: number): void {
  for (const [code, room] of rooms) rooms.set(code, shiftRoom(room, ms));
  for (const [code, until] of cooling) cooling.set(code, until + ms);
  for (const [key, record] of idempotency) idempotency.set(key, { ...record, until: record.until + ms });
}

function put<Key, Value>(map: Map<Key, Value>, writes: ReadonlyMap<Key, Value | null> = new Map()): void {
  for (const [key, value] of writes) {
    if (value === null) map.delete(key);
    else map.set(key, value);
  }
}
