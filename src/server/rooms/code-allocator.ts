/** Allocates a code for a new room: in a random shard, and when that is full, in the shards with most free codes. */
import type { Engine } from '../../engine/engine.ts';
import type { Create, Outcome } from '../../room/commands.ts';
import type { PoolStats } from '../../room/outcomes.ts';
import { codeAt, type Pool, SHARDS } from '../../room/pool.ts';
import { singleFlight } from '../../support/async/single-flight.ts';
import type { Random } from '../../support/random.ts';
import { StoreRecovering, StoreUnavailable } from '../../support/store.ts';

/** Codes drawn per attempt. With half the pool taken, all eight are taken once in 256 times; then the script scans. */
const DRAWS = 8;
/** The wait when no code is cooling, so that the time of the next free one is unknown. */
const UNKNOWN_WAIT_MS = 10_000;

type Created = Exclude<Outcome<Create>, { reason: 'FULL' }>;
type AllocationRequest = Omit<Create, 'kind' | 'shard' | 'candidates' | 'searchFrom'>;

export type AllocationResult =
  | Created
  | { readonly ok: false; readonly reason: 'POOL_EXHAUSTED'; readonly retryAfterMs: number };

/** The store did not answer: the room of this command may have been made. */
export class CreateUnknown extends StoreUnavailable {
  readonly command: Create;

  constructor(command: Create, cause: unknown) {
    super('whether the room was created is not known', { cause });
    this.command = command;
  }
}

export class CodeAllocator {
  /** The figures of all shards; concurrent calls share one reading. */
  readonly stats: () => Promise<readonly PoolStats[]>;
  private readonly engine: Engine;
  private readonly pool: Pool;
  private readonly random: Random;

  constructor(engine: Engine, pool: Pool, random: Random) {
    this.engine = engine;
    this.pool = pool;
    this.random = random;
    this.stats = singleFlight(() =>
      Promise.all(Array.from({ length: SHARDS }, (_, shard) => engine.apply({ kind: 'stats', shard }))),
    );
  }

  /** @returns the outcome in the shard that had a code, or how long to wait when no shard has one. */
  async create(request: AllocationRequest): Promise<AllocationResult> {
    const first = await this.createIn(firstShard(request, this.random), request);
    if (isDecided(first)) return first;
    // A shard that had a free code and is full now has given it to another create, so every round serves somebody.
    for (;;) {
      const stats = await this.stats();
      const shards = shardsWithCodes(stats, this.pool);
      if (shards.length === 0) return { ok: false, reason: 'POOL_EXHAUSTED', retryAfterMs: waitFor(stats) };
      for (const shard of shards) {
        const outcome = await this.createIn(shard, request);
        if (isDecided(outcome)) return outcome;
      }
    }
  }

  /** @throws CreateUnknown */
  private async createIn(shard: number, request: AllocationRequest): Promise<Outcome<Create>> {
    const { perShard } = this.pool;
    const candidates = Array.from({ length: DRAWS }, () => codeAt(this.pool, shard, this.random.integer(perShard)));
    const command: Create = {
      kind: 'create',
      ...request,
      shard,
      candidates,
      searchFrom: this.random.integer(perShard),
    };
    try {
      return await this.engine.apply(command);
    } catch (error) {
      // A store that recovers has not done it.
      const isUnknown = error instanceof StoreUnavailable && !(error instanceof StoreRecovering);
      throw isUnknown ? new CreateUnknown(command, error) : error;
    }
  }
}

const isDecided = (outcome: Outcome<Create>): outcome is Created => outcome.ok || outcome.reason !== 'FULL';

/** A create with an idempotency key starts in the shard of its hash: a repetition starts there too, and finds the record. */
function firstShard({ idempotencyKey }: AllocationRequest, random: Random): number {
  if (idempotencyKey === undefined) return random.integer(SHARDS);
  let hash = 0;
  for (const character of idempotencyKey) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return hash % SHARDS;
}

/** Most free codes first. A code that has cooled counts as free: the create takes it. */
function shardsWithCodes(stats: readonly PoolStats[], pool: Pool): number[] {
  return stats
    .map(({ occupied, cooling, nextFreeInMs }, shard) => ({
      shard,
      free: pool.perShard - occupied - cooling + (nextFreeInMs === 0 ? 1 : 0),
    }))
    .filter(({ free }) => free > 0)
    .sort((a, b) => b.free - a.free)
    .map(({ shard }) => shard);
}

function waitFor(stats: readonly PoolStats[]): number {
  const waits = stats.flatMap(({ nextFreeInMs }) => (nextFreeInMs === null ? [] : [nextFreeInMs]));
  return waits.length === 0 ? UNKNOWN_WAIT_MS : Math.max(1, Math.min(...waits));
}
