/** Signalbox as a library. */
import { createMemoryEngine } from './engine/memory.ts';
import type { PartialOptions } from './server/options.ts';
import { type Fittings, type SignalboxServer, startServer } from './server/server.ts';

export type { EngineHealth } from './engine/engine.ts';
export { OptionError, type Options, type PartialOptions } from './server/options.ts';
export type { PoolFigures } from './server/pool-watch.ts';
export type { SignalboxServer } from './server/server.ts';
export { type Log, silentLog } from './support/log.ts';

/**
 * Starts a server, on Redis when `redisUrl` is given, else in this process's memory; resolves when it listens.
 *
 * @param options every one has a default; see `docs/options.md`.
 * @param fittings replace parts of it: the log, the clock, chance.
 * @throws OptionError when an option makes no sense; an Error that says what to do when Redis cannot be used.
 */
export function createServer(options: PartialOptions = {}, fittings: Partial<Fittings> = {}): Promise<SignalboxServer> {
  const { redisUrl, redisPrefix } = options;
  const engine: Fittings['engine'] =
    redisUrl === undefined
      ? (settings) => createMemoryEngine(settings, fittings.clock)
      : async (settings) => {
          // Only who uses it pays for it: its client in the same process makes a relayed signal cost 5 to 10 % more.
          const { createRedisEngine } = await import('./engine/redis/index.ts');
          return createRedisEngine({
            url: redisUrl,
            ...(redisPrefix !== undefined && { prefix: redisPrefix }),
            ...(fittings.log !== undefined && { log: fittings.log }),
          })(settings);
        };
  return startServer(options, { engine, ...fittings });
}
