/** What a shard has left: how many of its codes are in use, and which released ones may be had again. */
import type { RoomCode } from '../protocol/ids.ts';
import type { StockFigures } from './outcomes.ts';
import type { Shard } from './shard.ts';

export const figures = (shard: Shard, now: number): StockFigures => ({
  occupied: shard.rooms.size,
  cooling: shard.cooling.size,
  freesInMs: freesIn(shard, now),
});

export function longestCooled(shard: Shard, now: number): RoomCode | undefined {
  return cooled(shard.cooling, now)[0];
}

/** Codes that have cooled, the longest cooled first. */
export function cooled(cooling: ReadonlyMap<RoomCode, number>, now: number): RoomCode[] {
  return [...cooling]
    .filter(([, until]) => until <= now)
    .sort(([codeA, a], [codeB, b]) => a - b || (codeA < codeB ? -1 : 1))
    .map(([code]) => code);
}

export function freesIn(shard: Shard, now: number): number | null {
  let next = Number.POSITIVE_INFINITY;
  // A loop: a shard of 8-digit codes can cool more codes than a call takes arguments.
  for (const until of shard.cooling.values()) next = Math.min(next, until);
  return shard.cooling.size === 0 ? null : Math.max(0, next - now);
}
