/** Several nodes on one Redis. */
import { createClient } from 'redis';
import { expect } from 'vitest';
import type { Engine, EngineSettings } from '../../src/engine/engine.ts';
import { auditShards } from '../../src/engine/redis/audit.ts';
import { createRedisEngine, type RedisEngineOptions } from '../../src/engine/redis/index.ts';
import type { NodeId } from '../../src/protocol/ids.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { createHandClock, EngineHarness, type HandClock, settingsOf } from './harness.ts';
import type { Admin } from './stored-state.ts';

export interface Nodes extends AsyncDisposable {
  readonly redis: RedisServer;
  readonly admin: Admin;
  readonly clock: HandClock;
  readonly harnesses: readonly EngineHarness[];
  readonly engines: readonly Engine[];
  /** One of the nodes, in turn. */
  next(): EngineHarness;
  /** Audits Redis: conservation of codes, and what follows from it. */
  audit(): Promise<{ free: number; occupied: number; cooling: number; seats: number }>;
}

export interface NodesOptions extends Omit<RedisEngineOptions, 'url' | 'clock'> {
  readonly count?: number;
  readonly settings?: EngineSettings;
  /** Between the nodes and Redis. */
  readonly url?: (redis: RedisServer) => string;
}

export async function startNodes({
  count = 3,
  settings = settingsOf(),
  ...options
}: NodesOptions = {}): Promise<Nodes> {
  const redis = await startRedis();
  const url = options.url?.(redis) ?? redis.url;
  const admin: Admin = createClient({ url: redis.url });
  // The tests that end or freeze Redis are not about this client.
  admin.on('error', () => {});
  await admin.connect();
  const clock = createHandClock();
  const make = createRedisEngine({ ...options, url, clock });
  const engines: Engine[] = [];
  for (let index = 0; index < count; index += 1) {
    const engine = await make({ ...settings, nodeId: `node-${index}` as NodeId });
    engines.push(engine);
  }
  const harnesses = engines.map((engine) => new EngineHarness(engine, clock));
  let turn = 0;
  return {
    redis,
    admin,
    clock,
    engines,
    harnesses,
    next() {
      turn += 1;
      return harnesses[turn % count] ?? expect.unreachable();
    },
    async audit() {
      const audits = await auditShards({ url: redis.url, pool: settings.pool });
      expect(audits.flatMap(({ disagreements }) => disagreements)).toEqual([]);
      const sum = (of: 'free' | 'occupied' | 'cooling' | 'seats') =>
        audits.reduce((total, shard) => total + shard[of], 0);
      const figures = { free: sum('free'), occupied: sum('occupied'), cooling: sum('cooling'), seats: sum('seats') };
      expect(figures.free + figures.occupied + figures.cooling).toBe(settings.pool.perShard * 100);
      return figures;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(engines.map((engine) => engine.close()));
      admin.destroy();
      await redis.stop();
    },
  };
}
