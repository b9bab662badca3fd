/** The rooms of a shard, in pages. The order is that of the codes, which never change: no room is listed twice or left out. */
import type { List } from './commands.ts';
import { toInfo } from './room.ts';
import type { Shard } from './shard.ts';
import type { RuleResult } from './transitions.ts';

export function list(shard: Shard, { after, limit }: List): RuleResult<List> {
  const behind = [...shard.rooms.keys()].filter((code) => after === undefined || code > after).sort();
  const rooms = behind.slice(0, limit).flatMap((code) => {
    const room = shard.rooms.get(code);
    return room === undefined ? [] : [{ ...toInfo(room), memberCount: room.seats.length }];
  });
  return { outcome: { ok: true, rooms, more: behind.length > limit }, writes: {} };
}
