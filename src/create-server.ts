/** `createServer`: chooses the stores that the options name, and starts a server on them. */
import { lockDataDir } from './data-dir-lock.ts';
import type { Database } from './database/database.ts';
import { sharedDatabaseUrl } from './database/database-url.ts';
import { openDatabase } from './database/open.ts';
import { shareDatabase } from './database/shared-database.ts';
import type { Engine } from './engine/engine.ts';
import { createMemoryEngine } from './engine/memory.ts';
import type { RedisEngine } from './engine/redis/index.ts';
import { callRecordsFromOptions } from './records/from-options.ts';
import { referencesFromOptions } from './reference/from-options.ts';
import type { ReferenceNotice } from './reference/port.ts';
import { checkDependencies, type ServerDependencies } from './server/dependencies.ts';
import type { EmbedTarget } from './server/hosting/embed.ts';
import type { Options, PartialOptions } from './server/options/options.ts';
import { embedServer, startServer } from './server/server.ts';
import type { EmbeddedSignalbox, SignalboxServer } from './server/signalbox.ts';
import { type Clock, systemClock } from './support/clock.ts';
import { createDefaultLog, type Log } from './support/log.ts';
import { createMemoryQueue } from './webhooks/queue/memory.ts';
import type { WebhookQueue } from './webhooks/queue/queue.ts';

export { NodeIdTaken } from './engine/engine.ts';

/**
 * Starts a server, on Redis when `redisUrl` is given, else in this process's memory; resolves when it listens.
 *
 * @param options every one has a default; see `docs/options.md`.
 * @param dependencies replace parts of it (the log, the clock, chance), or decide for it (`hooks`). Without a `log`,
 *   warnings and errors go to standard error, as lines of JSON.
 * @throws OptionError when an option makes no sense, or there is no such dependency or hook; an Error that says what to do
 *   when Redis or the database cannot be used, or another node has the `dataDir`.
 */
export function createServer(
  options?: PartialOptions,
  dependencies?: Partial<ServerDependencies>,
): Promise<SignalboxServer>;
/**
 * Starts a server inside another one: of `node:http` or `node:https`, or a Fastify instance. See `docs/embedding.md`.
 *
 * @param target has the `server`, and the `prefix` of the paths that are handed over.
 * @throws OptionError also for an option that has no meaning in an embedded server.
 */
export function createServer(
  options: PartialOptions,
  target: EmbedTarget & Partial<ServerDependencies>,
): Promise<EmbeddedSignalbox>;
export async function createServer(
  options: PartialOptions = {},
  given: Partial<EmbedTarget & ServerDependencies> = {},
): Promise<SignalboxServer | EmbeddedSignalbox> {
  checkDependencies(given);
  const { server, prefix, log = createDefaultLog(), ...others } = given;
  const replaced = { ...others, log };
  const database = sharedDatabase(log);
  const dependencies: ServerDependencies = {
    lockDataDir: (settings) => lockDataDir(settings, log),
    engine: engineFromOptions(options, { clock: others.clock ?? systemClock, log }),
    webhookQueue: queueOf,
    references: (settings, onNotice) => countedReferences(settings, { ...replaced, onNotice }, database(settings)),
    calls: (node) => callRecordsFromOptions(() => database(node.options), node.options, node),
    ...replaced,
  };
  if (server === undefined) return startServer(options, dependencies);
  return embedServer(options, dependencies, { server, ...(prefix !== undefined && { prefix }) });
}

type Logged = Pick<ServerDependencies, 'clock'> & { readonly log: Log };

function engineFromOptions(
  { redisUrl: url, redisPrefix: prefix }: PartialOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): ServerDependencies['engine'] {
  if (url === undefined) {
    const onStep = (ms: number) => log.warn({ ms }, 'the system clock was set: the rooms in memory follow it');
    return (settings) => createMemoryEngine(settings, clock, onStep);
  }
  return async (settings) => {
    // Loaded on demand: the mere presence of its client in a process makes a relayed signal cost 5 to 10 % more.
    const { createRedisEngine } = await import('./engine/redis/index.ts');
    return createRedisEngine({ url, ...(prefix !== undefined && { prefix }), log })(settings);
  };
}

/** The queue that is filled from the engine's feed lives in the same store. */
async function queueOf(engine: Engine, clock: Clock): Promise<WebhookQueue> {
  if (!isRedisEngine(engine)) return createMemoryQueue(engine.feed, clock);
  const { createRedisQueue } = await import('./webhooks/queue/redis.ts');
  return createRedisQueue(engine.redis);
}

const isRedisEngine = (engine: Engine): engine is RedisEngine => 'redis' in engine;

/** One database for the references and the records of a server: each call gives out one more share, to be closed. */
function sharedDatabase(log: Log): (options: Options) => Database | undefined {
  let share: (() => Database) | undefined;
  return (options) => {
    const url = sharedDatabaseUrl(options);
    if (url === undefined) return undefined;
    share ??= shareDatabase(openDatabase(url, log));
    return share();
  };
}

/**
 * References counted in the ledger that the nodes share; undefined without a ledger.
 *
 * @throws when the ledger cannot be used: a server that is to count and cannot does not start.
 */
async function countedReferences(
  options: Options,
  { log, clock, onNotice }: Logged & { readonly onNotice: (notice: ReferenceNotice) => void },
  database: Database | undefined,
) {
  const buffered = ['room', ...(options.userIds === 'reference' ? ['user'] : [])];
  const references = referencesFromOptions(options, { database, log, clock, buffered, onNotice });
  if (references === undefined) {
    if (options.redisUrl !== undefined) {
      log.warn('rooms get their refs by chance: to count them, give all nodes the databaseUrl of one database');
    }
    return undefined;
  }
  try {
    await references.prepare();
    return references;
  } catch (error) {
    await references.close();
    throw error;
  }
}
