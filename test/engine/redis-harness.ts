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
  /** Redis goes on from an earlier state, or from nothing. */
  lose(what: 'life' | 'everything'): Promise<void>;
}

export async function startRedisHarness(url: string, scripts: Scripts = loadScripts()): Promise<RedisHarness> {
  const admin: Admin = createClient({ url });
  await admin.connect();
  let kept: { readonly key: string; readonly engine: Engine } | undefined;
  let clock: HandClock | undefined;
  const now = () => clock?.now() ?? Number.NaN;

  return {
    async make(settings, turned) {
      clock = turned;
      await admin.flushAll();
      const key = JSON.stringify(settings);
      if (kept?.key !== key) {
        // First: they have one name.
        await kept?.engine.close();
        const connect = createRedisEngine({ url, clock: { now }, deadlineMs: 60_000 }, scripts);
        kept = { key, engine: await connect(settings) };
      }
      // Whoever plays an example closes its engine; the next one will have it again.
      return { ...kept.engine, close: async () => {} };
    },
    async lose(what) {
      if (what === 'everything') await admin.flushAll();
      else await admin.hSet('sb:{s07}:meta', 'life', 'another');
    },
    storedState: (settings) => readStoredState(admin, 'sb:', settings),
    async [Symbol.asyncDispose]() {
      await kept?.engine.close();
      admin.destroy();
    },
  };
}
