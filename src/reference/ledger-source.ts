/** Numbers out of the ledger alone: each process has blocks of its own. */
import type { BlockLeaser } from './block-leaser.ts';
import { MAX_BLOCK } from './ledger.ts';
import { yearOf } from './range.ts';
import type { NumberBatch, NumberSource } from './source.ts';

export interface LedgerSourceOptions {
  readonly leaser: BlockLeaser;
  /** How long the database may be away without anybody noticing. */
  readonly outageMs: number;
  /** Size of a block when next to nothing is asked for: what a restart leaves behind unused. */
  readonly minBlock: number;
}

export function createLedgerSource({ leaser, outageMs, minBlock }: LedgerSourceOptions): NumberSource {
  // The lease begins when half of a block is gone at worst, and what is left outlasts the outage.
  const amountAt = (perMs: number) => Math.min(MAX_BLOCK, Math.max(minBlock, Math.ceil(2 * perMs * outageMs)));
  return {
    sizing: (perMs) => ({
      low: Math.max(minBlock / 2, Math.min(MAX_BLOCK / 2, 1.5 * perMs * outageMs)),
      amount: amountAt(perMs),
      aheadMs: 2 * outageMs,
    }),
    async draw({ needed, perMs, year: fixed }): Promise<NumberBatch> {
      const now = await leaser.now();
      const year = fixed ?? yearOf(now);
      return { ranges: [await leaser.lease(year, Math.max(needed, amountAt(perMs)))], year, now };
    },
  };
}
