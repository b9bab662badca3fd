/** Finds a code for a new room: a shard by chance, and when that is full, the shards that have some left. */
import type { Engine } from '../../engine/engine.ts';
import type { Create, Outcome } from '../../room/commands.ts';
import type { PoolStats } from '../../room/outcomes.ts';
import { codeAt, type Pool, SHARDS } from '../../room/pool.ts';
import { singleFlight } from '../../support/async/single-flight.ts';
import type { Random } from '../../support/random.ts';

/** Codes drawn per attempt. With half the pool taken, all eight are taken once in 256 times; then the script scans. */
const DRAWS = 8;
/** When nothing is cooling, nobody knows when a code will be free: ask again after this. */
const UNKNOWN_WAIT_MS = 10_000;

type Created = Exclude<Outcome<Create>, { reason: 'FULL' }>;
type AllocationRequest = Omit<Create, 'kind' | 'shard' | 'candidates' | 'from'>;

export interface CodeAllocator {
  /** @returns the outcome in the shard that had a code, or how long to wait when no shard has one. */
  create(
    request: AllocationRequest,
  ): Promise<Created | { readonly ok: false; readonly reason: 'POOL_EXHAUSTED'; readonly retryAfterMs: number }>;
  stock(): Promise<readonly PoolStats[]>;
}

export function createCodeAllocator(engine: Engine, pool: Pool, random: Random): CodeAllocator {
  const takeStock = singleFlight(() =>
    Promise.all(Array.from({ length: SHARDS }, (_, shard) => engine.apply({ kind: 'stats', shard }))),
  );

  const attempt = (request: AllocationRequest, shard: number): Promise<Outcome<Create>> => {
    const candidates = Array.from({ length: DRAWS }, () => codeAt(pool, shard, random.integer(pool.perShard)));
    return engine.apply({ kind: 'create', ...request, shard, candidates, from: random.integer(pool.perShard) });
  };

  const isMade = (outcome: Outcome<Create>): outcome is Created => outcome.ok || outcome.reason !== 'FULL';

  return {
    stock: takeStock,
    async create(request) {
      const first = await attempt(request, firstShard(request, random));
      if (isMade(first)) return first;
      // Whoever finds a shard full that had a code left has lost it to another create: each round, somebody gets on.
      for (;;) {
        const stock = await takeStock();
        const shards = shardsWithCodes(stock, pool);
        if (shards.length === 0) return { ok: false, reason: 'POOL_EXHAUSTED', retryAfterMs: waitFor(stock) };
        for (const shard of shards) {
          const outcome = await attempt(request, shard);
          if (isMade(outcome)) return outcome;
        }
      }
    },
  };
}

/** A create with an idempotency key begins in the shard of its hash: a repetition begins there too, and finds the record. */
function firstShard({ idempotencyKey }: AllocationRequest, random: Random): number {
  if (idempotencyKey === undefined) return random.integer(SHARDS);
  let hash = 0;
  for (const character of idempotencyKey) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return hash % SHARDS;
}

/** Those with most free codes first. A code that has cooled counts: the create takes it. */
function shardsWithCodes(stock: readonly PoolStats[], pool: Pool): number[] {
  return stock
    .map(({ occupied, cooling, nextFreeInMs }, shard) => ({
      shard,
      free: pool.perShard - occupied - cooling + (nextFreeInMs === 0 ? 1 : 0),
    }))
    .filter(({ free }) => free > 0)
    .sort((a, b) => b.free - a.free)
    .map(({ shard }) => shard);
}

function waitFor(stock: readonly PoolStats[]): number {
  const waits = stock.flatMap(({ nextFreeInMs }) => (nextFreeInMs === null ? [] : [nextFreeInMs]));
  return waits.length === 0 ? UNKNOWN_WAIT_MS : Math.max(1, Math.min(...waits));
}
