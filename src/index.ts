/** Signalbox as a library. */

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
import type { EmbedTarget } from './server/hosting/embed.ts';
import type { Options, PartialOptions } from './server/options/options.ts';
import {
  checkDependencies,
  type EmbeddedSignalbox,
  embedServer,
  type ServerDependencies,
  type SignalboxServer,
  startServer,
} from './server/server.ts';
import type { Clock } from './support/clock.ts';
import { createDefaultLog, type Log } from './support/log.ts';
import { createMemoryQueue } from './webhooks/queue/memory.ts';
import type { WebhookQueue } from './webhooks/queue/queue.ts';

export type { FeedEvent, FeedType } from './protocol/feed.ts';
export { type ParsedReference, ReferenceMalformed } from './reference/format.ts';
export { createReferenceGenerator, type ReferenceGeneratorOptions } from './reference/from-options.ts';
export type { CountedReferences, CountingOptions } from './reference/generator.ts';
export { type ItemType, ItemTypeError, type ItemTypes } from './reference/item-types.ts';
export { type Ledger, LedgerMisconfigured } from './reference/ledger.ts';
export { type IssueContext, type ReferenceNotice, ReferenceUnavailable } from './reference/port.ts';
export type { CreateRequest, Credentials, Hooks, Identity, JoinRequest, Refusal } from './server/auth/hooks.ts';
export type { EmbedTarget } from './server/hosting/embed.ts';
export type { FastifyHost } from './server/hosting/fastify-host.ts';
export type { EventListener, Events } from './server/monitoring/events.ts';
export type { PoolFigures } from './server/monitoring/pool-monitor.ts';
export { OptionError, type Options, type PartialOptions } from './server/options/options.ts';
export type { EmbeddedSignalbox, ServerDependencies, Signalbox, SignalboxServer } from './server/server.ts';
export { type Log, silentLog } from './support/log.ts';
export type { StoreHealth } from './support/store.ts';

/**
 * Starts a server, on Redis when `redisUrl` is given, else in this process's memory; resolves when it listens.
 *
 * @param options every one has a default; see `docs/options.md`.
 * @param dependencies replace parts of it: the log, the clock, chance; or say what it leaves to you: `hooks`. Without a `log`,
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
 * @param place has the `server`, and the `prefix` of the paths that are handed over.
 * @throws OptionError also for an option that only a server of its own has.
 */
export function createServer(
  options: PartialOptions,
  place: EmbedTarget & Partial<ServerDependencies>,
): Promise<EmbeddedSignalbox>;
export async function createServer(
  options: PartialOptions = {},
  given: Partial<EmbedTarget & ServerDependencies> = {},
): Promise<SignalboxServer | EmbeddedSignalbox> {
  checkDependencies(given);
  const { server, prefix, log = createDefaultLog(), ...others } = given;
  const dependencies = { ...others, log };
  const { redisUrl, redisPrefix } = options;
  const engine: ServerDependencies['engine'] =
    redisUrl === undefined
      ? (settings) => createMemoryEngine(settings, dependencies.clock)
      : async (settings) => {
          // Only who uses it pays for it: its client in the same process makes a relayed signal cost 5 to 10 % more.
          const { createRedisEngine } = await import('./engine/redis/index.ts');
          return createRedisEngine({
            url: redisUrl,
            ...(redisPrefix !== undefined && { prefix: redisPrefix }),
            log,
          })(settings);
        };
  const database = databaseFor(log);
  const parts: ServerDependencies = {
    lockDataDir: lockDataDir,
    engine,
    webhookQueue: queueFor,
    references: (settings, onNotice) => referencesFor(settings, { ...dependencies, onNotice }, database(settings)),
    calls: (node) => callRecordsFromOptions(() => database(node.options), node.options, node),
    ...dependencies,
  };
  if (server === undefined) return startServer(options, parts);
  return embedServer(options, parts, { server, ...(prefix !== undefined && { prefix }) });
}

/** Where the engine keeps its feed, there is the queue that is filled from it. */
async function queueFor(engine: Engine, clock: Clock): Promise<WebhookQueue> {
  if (!isRedisEngine(engine)) return createMemoryQueue(engine.feed, clock);
  const { createRedisQueue } = await import('./webhooks/queue/redis.ts');
  return createRedisQueue(engine.redis);
}

const isRedisEngine = (engine: Engine): engine is RedisEngine => 'redis' in engine;

/** One for all that a server keeps: each call gives it to one more user, who closes it. */
function databaseFor(log: Log): (options: Options) => Database | undefined {
  let share: (() => Database) | undefined;
  return (options) => {
    const url = sharedDatabaseUrl(options);
    if (url === undefined) return undefined;
    share ??= shareDatabase(openDatabase(url, log));
    return share();
  };
}

interface Counting extends Pick<ServerDependencies, 'clock'> {
  readonly log: Log;
  readonly onNotice: (notice: ReferenceNotice) => void;
}

/** By count where the nodes share a ledger; a server that is to count and cannot does not start. */
async function referencesFor(options: Options, { log, clock, onNotice }: Counting, database: Database | undefined) {
  const held = ['room', ...(options.userIds === 'reference' ? ['user'] : [])];
  const references = referencesFromOptions(options, { database, log, clock, buffered: held, onNotice });
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
