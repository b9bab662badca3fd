/** The rooms of a shard, a page at a time. Pages follow the codes, which a room keeps: none is told twice, none left out. */
import type { List } from './commands.ts';
import { toInfo } from './room.ts';
import type { Shard } from './shard.ts';
import type { Step } from './transitions.ts';

export function list(shard: Shard, { after, limit }: List): Step<List> {
  const behind = [...shard.rooms.keys()].filter((code) => after === undefined || code > after).sort();
  const rooms = behind.slice(0, limit).flatMap((code) => {
    const room = shard.rooms.get(code);
    return room === undefined ? [] : [{ ...toInfo(room), memberCount: room.seats.length }];
  });
  return { outcome: { ok: true, rooms, more: behind.length > limit }, writes: {} };
}
