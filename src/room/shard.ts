/** The state of one shard: what the rules read, and how their result is written back. */
import type { RoomCode, RoomRef } from '../protocol/ids.ts';
import type { Room } from './room.ts';

export interface Shard {
  /** Occupied codes. */
  readonly rooms: ReadonlyMap<RoomCode, Room>;
  /** Released codes, and until when they may not be handed out. A code in neither map is free. */
  readonly cooling: ReadonlyMap<RoomCode, number>;
  /** What creates with a key have made. */
  readonly receipts: ReadonlyMap<string, Receipt>;
}

export interface Receipt {
  readonly code: RoomCode;
  readonly ref: RoomRef;
  readonly until: number;
}

/** The next state, as the difference to the present one: `null` removes. */
export interface Writes {
  readonly rooms?: ReadonlyMap<RoomCode, Room | null>;
  readonly cooling?: ReadonlyMap<RoomCode, number | null>;
  readonly receipts?: ReadonlyMap<string, Receipt | null>;
}

export interface MutableShard extends Shard {
  readonly rooms: Map<RoomCode, Room>;
  readonly cooling: Map<RoomCode, number>;
  readonly receipts: Map<string, Receipt>;
}

export const createShard = (): MutableShard => ({ rooms: new Map(), cooling: new Map(), receipts: new Map() });

/** Makes the next state the present one. */
export function write(shard: MutableShard, writes: Writes): void {
  put(shard.rooms, writes.rooms);
  put(shard.cooling, writes.cooling);
  put(shard.receipts, writes.receipts);
}

function put<Key, Value>(map: Map<Key, Value>, writes: ReadonlyMap<Key, Value | null> = new Map()): void {
  for (const [key, value] of writes) {
    if (value === null) map.delete(key);
    else map.set(key, value);
  }
}
