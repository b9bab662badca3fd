/** Numbers from the ledger alone: each process leases blocks of its own. */
import type { BlockLeaser } from './block-leaser.ts';
import { MAX_BLOCK } from './ledger.ts';
import { yearOf } from './range.ts';
import type { NumberBatch, NumberSource } from './source.ts';

export interface LedgerSourceOptions {
  readonly leaser: BlockLeaser;
  /** Length of a database outage to bridge. */
  readonly outageMs: number;
  /** Smallest block: a restart wastes the rest of it. */
  readonly minBlock: number;
}

export function createLedgerSource({ leaser, outageMs, minBlock }: LedgerSourceOptions): NumberSource {
  // Twice the outage: a new block is leased when at least half of the last one is used, and the rest outlasts the outage.
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
