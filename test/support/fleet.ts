/** Several server processes on a Redis of their own. */
import { z } from 'zod';
import { auditShards } from '../../src/engine/redis/audit.ts';
import { createPool } from '../../src/room/pool.ts';
import type { PartialOptions } from '../../src/server/options/options.ts';
import { PATIENCE_MS } from './patience-ms.ts';
import { type RedisServer, startRedis } from './redis.ts';
import { type SignalboxProcess, startSignalbox } from './signalbox.ts';

const ADMIN_TOKEN = 'the-operator-of-these-tests';

const figures = z.object({ free: z.int(), occupied: z.int(), cooling: z.int(), total: z.int() });

export interface PoolAudit {
  readonly occupied: number;
  readonly cooling: number;
  readonly seats: number;
  readonly disagreements: readonly string[];
}

export interface Fleet extends AsyncDisposable {
  readonly redis: RedisServer;
  node(number: number): SignalboxProcess;
  /** Counts by the keys in Redis. */
  audit(): Promise<PoolAudit>;
  /** The reply of a node's GET /v1/pool. */
  pool(number: number): Promise<z.infer<typeof figures>>;
  /** The status of a node's GET /readyz. */
  readiness(number: number): Promise<number>;
  /** Resolves once /readyz has this status. */
  becomes(number: number, status: number): Promise<void>;
}

export async function startFleet(count: number, options: PartialOptions = {}): Promise<Fleet> {
  const redis = await startRedis();
  const nodes: SignalboxProcess[] = [];
  // One after the other: processes that start side by side take the processor from each other, and a start has a deadline.
  for (let number = 0; number < count; number += 1) {
    const started = await startSignalbox({
      redisUrl: redis.url,
      nodeId: `node-${number}`,
      secret: 'a secret of these tests',
      adminToken: ADMIN_TOKEN,
      connectionsBurst: 100_000,
      eventsPerSecond: 100_000,
      eventsBurst: 100_000,
      ...options,
    });
    nodes.push(started);
  }
  const node = (number: number): SignalboxProcess => {
    const found = nodes[number];
    if (found === undefined) throw new Error('no such node');
    return found;
  };
  const readiness = async (number: number) => (await fetch(`${node(number).url}/readyz`)).status;
  return {
    redis,
    node,
    readiness,
    async audit() {
      const shards = await auditShards({ url: redis.url, pool: createPool(6) });
      const sum = (figure: 'occupied' | 'cooling' | 'seats') => shards.reduce((total, it) => total + it[figure], 0);
      const disagreements = shards.flatMap((shard) => shard.disagreements);
      return { occupied: sum('occupied'), cooling: sum('cooling'), seats: sum('seats'), disagreements };
    },
    async pool(number) {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      return figures.parse(await (await fetch(`${node(number).url}/v1/pool`, { headers })).json());
    },
    becomes: (number, status) => eventually(async () => (await readiness(number)) === status),
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map(({ child }) => child.kill()));
      await redis.stop();
    },
  };
}

/** Polls the condition until it holds. */
export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const latest = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > latest) throw new Error(`the condition did not hold within ${PATIENCE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
