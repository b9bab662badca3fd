/** Statistics of a shard's codes: how many are in use, and when released ones can be used again. */
import type { RoomCode } from '../protocol/ids.ts';
import type { PoolStats } from './outcomes.ts';
import type { Shard } from './shard.ts';

export const poolStats = (shard: Shard, now: number): PoolStats => ({
  occupied: shard.rooms.size,
  cooling: shard.cooling.size,
  nextFreeInMs: nextFreeIn(shard, now),
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

export function nextFreeIn(shard: Shard, now: number): number | null {
  let next = Number.POSITIVE_INFINITY;
  // A loop: a shard of 8-digit codes can cool more codes than a call takes arguments.
  for (const until of shard.cooling.values()) next = Math.min(next, until);
  return shard.cooling.size === 0 ? null : Math.max(0, next - now);
}
