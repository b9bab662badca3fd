/** Figures of the pool of codes, and the alarm when few are free. */
import type { PoolStats } from '../../room/outcomes.ts';
import { type Pool, SHARDS } from '../../room/pool.ts';
import type { Log } from '../../support/log.ts';

export interface PoolFigures {
  readonly free: number;
  readonly occupied: number;
  readonly cooling: number;
  readonly total: number;
}

export function poolFigures(pool: Pool, stats: readonly (PoolStats | undefined)[]): PoolFigures {
  const sum = (figure: 'occupied' | 'cooling') => stats.reduce((total, figures) => total + (figures?.[figure] ?? 0), 0);
  const total = pool.perShard * SHARDS;
  const occupied = sum('occupied');
  const cooling = sum('cooling');
  return { free: total - occupied - cooling, occupied, cooling, total };
}

/** Hysteresis: the alarm is armed again when the free share is this much above the mark, so that it does not flap. */
const RECOVERY = 0.01;

/**
 * @param onLow is called each time the pool falls below the mark
 * @returns a function to call with each new reading
 */
export function createLowWaterAlarm(
  lowWater: number,
  log: Log,
  onLow: (figures: PoolFigures) => void,
): (figures: PoolFigures) => void {
  let low = false;
  return (figures) => {
    const share = figures.free / figures.total;
    if (!low && share < lowWater) {
      low = true;
      log.warn({ ...figures, lowWater }, 'the pool of room codes is running low');
      onLow(figures);
    } else if (low && share >= Math.min(1, lowWater + RECOVERY)) {
      low = false;
      log.info({ ...figures }, 'the pool of room codes has recovered');
    }
  };
}
