/** Numbers out of the ledger alone: each process has blocks of its own. */
import type { Leasing } from './leasing.ts';
import type { Draw, Supply } from './supply.ts';
import { yearOf } from './year.ts';

/** At a rate that asks for more, an outage of the database is noticed sooner: numbers are not burnt by the billion. */
const MOST_BLOCK = 10_000_000;

export interface AloneOptions {
  readonly leasing: Leasing;
  /** How long the database may be away without anybody noticing. */
  readonly outageMs: number;
  /** Size of a block when next to nothing is asked for: what a restart leaves behind unused. */
  readonly leastBlock: number;
}

export function createLoneSupply({ leasing, outageMs, leastBlock }: AloneOptions): Supply {
  // The lease begins when half of a block is gone at worst, and what is left outlasts the outage.
  const amountAt = (perMs: number) => Math.min(MOST_BLOCK, Math.max(leastBlock, Math.ceil(2 * perMs * outageMs)));
  return {
    sizing: (perMs) => ({
      low: Math.max(leastBlock / 2, Math.min(MOST_BLOCK / 2, 1.5 * perMs * outageMs)),
      amount: amountAt(perMs),
      aheadMs: 2 * outageMs,
    }),
    async draw({ needed, perMs, year: fixed }): Promise<Draw> {
      const now = await leasing.now();
      const year = fixed ?? yearOf(now);
      return { ranges: [await leasing.lease(year, Math.max(needed, amountAt(perMs)))], year, now };
    },
  };
}
