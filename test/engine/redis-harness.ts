/** Redis engines for tests. Connecting costs more than an example, so engines are kept and the store is emptied. */
import { createClient } from 'redis';
import type { Engine, EngineSettings } from '../../src/engine/engine.ts';
import { createRedisEngine } from '../../src/engine/redis/index.ts';
import { loadScripts, type Scripts } from '../../src/engine/redis/scripts.ts';
import type { MakeEngine } from './contract.ts';
import type { HandClock } from './harness.ts';
import { type Admin, readStoredState } from './stored-state.ts';

export interface RedisHarness extends AsyncDisposable {
  /** One engine at a time: making the next one empties the store of the last. */
  readonly make: MakeEngine;
  /** What Redis holds of the shard that the tests play in. */
  storedState(settings: EngineSettings): Promise<unknown>;
}

export async function startRedisHarness(url: string, scripts: Scripts = loadScripts()): Promise<RedisHarness> {
  const admin: Admin = createClient({ url });
  await admin.connect();
  const engines = new Map<string, { engine: Engine; face: Engine }>();
  let clock: HandClock | undefined;
  const now = () => clock?.now() ?? Number.NaN;

  return {
    async make(settings, turned) {
      clock = turned;
      await admin.flushAll();
      const key = JSON.stringify(settings);
      const kept = engines.get(key);
      if (kept !== undefined) return kept.face;
      const engine = await createRedisEngine({ url, clock: { now }, deadlineMs: 60_000 }, scripts)(settings);
      // Whoever plays an example closes its engine; the next one will have it again.
      const face = { ...engine, close: async () => {} };
      engines.set(key, { engine, face });
      return face;
    },
    storedState: (settings) => readStoredState(admin, 'sb:', settings),
    async [Symbol.asyncDispose]() {
      await Promise.all([...engines.values()].map(({ engine }) => engine.close()));
      admin.destroy();
    },
  };
}
