/** What stands before anybody is let in: the stores, who reads them, and the HTTP side with its sockets. */
import type { FastifyInstance } from 'fastify';
import type { Engine } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import { createRandomReferences } from '../reference/random.ts';
import { systemClock } from '../support/clock.ts';
import { createDigest, type Log, silentLog } from '../support/log.ts';
import { type Random, systemRandom } from '../support/random.ts';
import { readWebhooks } from '../webhooks/settings.ts';
import { startWebhooks } from '../webhooks/start.ts';
import { HOOK_MS, type Hooks } from './auth/hooks.ts';
import type { ServerContext } from './context.ts';
import { createFaults, type Faults } from './faults.ts';
import { createApp, type HttpRoute } from './http/app.ts';
import { type Alarms, createAlarms } from './monitoring/alarms.ts';
import { type Options, policyOf, poolOf } from './options/options.ts';
import { startSignalCounter } from './presence/signal-counter.ts';
import { SessionRegistry } from './sessions/session-registry.ts';
import type { Shutdown } from './shutdown.ts';
import type { ServerDependencies } from './signalbox.ts';
import { closeIo, createIo } from './sockets/socket-io.ts';

const NODE_ID_BYTES = 6;
const SECRET_BYTES = 32;

export interface OpenedStores {
  readonly context: ServerContext;
  /** The HTTP side, which listens nowhere yet. */
  readonly app: FastifyInstance;
  /** Every route that it has, or will have. */
  readonly routes: readonly HttpRoute[];
  readonly faults: Faults;
  /** Signs resume tokens. */
  readonly secret: string;
  readonly alarms: Alarms;
}

/** Everything but the sockets. */
type Stores = Omit<ServerContext, 'io'> & Pick<OpenedStores, 'alarms' | 'secret'>;

/** @param shutdown is told how each part is ended, as soon as there is one. */
export async function openFoundations(
  options: Options,
  dependencies: ServerDependencies,
  shutdown: Shutdown,
): Promise<OpenedStores> {
  const { alarms, secret, ...stores } = await openStores(options, dependencies, shutdown);
  const { engine, log, random } = stores;
  const faults = createFaults(log, random);
  const routes: HttpRoute[] = [];
  const app = await createApp(options, faults, log, (route) => routes.push(route));
  shutdown.add(() => app.close());
  const io = createIo(withTimeFor(dependencies.hooks, options), engine, app.server, log);
  shutdown.add(() => closeIo(io, app.server));
  return { context: { ...stores, io }, app, routes, faults, secret, alarms };
}

async function openStores(options: Options, dependencies: ServerDependencies, shutdown: Shutdown): Promise<Stores> {
  const { clock = systemClock, random = systemRandom, log = silentLog } = dependencies;
  // The alphabet of random text is the one of a node's name; the option's pattern is checked.
  const nodeId = (options.nodeId ?? random.text(NODE_ID_BYTES)) as NodeId;
  const giveBack = await dependencies.lockDataDir?.(options);
  if (giveBack !== undefined) shutdown.add(giveBack);
  const kept = { policy: policyOf(options), pool: poolOf(options), feedMaxEvents: options.feedMaxEvents };
  const engine = await dependencies.engine({ nodeId, ...kept });
  shutdown.add(() => engine.close());
  const { feed } = engine;
  const alarms = createAlarms(feed, log);
  const references =
    (await dependencies.references?.(options, alarms.ledgerBehind)) ?? createRandomReferences(clock, random);
  shutdown.add(() => references.close());
  const calls = dependencies.calls?.({ options, nodeId, feed, clock, random, log });
  // While there is a feed to read: what has just happened is recorded too.
  if (calls !== undefined) shutdown.add(() => calls.close());
  const secret = await findSecret(options, engine, random, log);
  const digest = createDigest(secret);
  const settings = readWebhooks(options);
  const queue = settings && (await dependencies.webhookQueue(engine, clock));
  const webhooks = queue && (await startWebhooks(settings, { feed, queue, clock, random, log, digest }));
  // What has just happened is for the other nodes to send, or for the next start.
  if (webhooks !== undefined) shutdown.add(() => webhooks.stop());
  const registry = new SessionRegistry((ref, signals) => calls?.countSignals(ref, signals));
  // Ends after the sockets, and before the records: what was relayed last is counted.
  shutdown.add(startSignalCounter({ options, registry, calls, clock }).stop);
  return {
    options,
    nodeId,
    engine,
    registry,
    references,
    clock,
    random,
    log,
    digest,
    alarms,
    secret,
    ...(calls !== undefined && { calls }),
    ...(webhooks !== undefined && { webhooks }),
  };
}

async function findSecret({ secret }: Options, engine: Engine, random: Random, log: Log): Promise<string> {
  if (secret !== undefined) return secret;
  if (engine.fanout.adapter === undefined) log.info('no secret is given: resume tokens end with this process');
  else log.warn('no secret is given: the nodes share one through the store, where whoever reads the store can read it');
  return engine.sharedSecret(random.text(SECRET_BYTES));
}

/** Socket.IO counts the time of whoever decides about a connection, too. */
function withTimeFor(hooks: Hooks | undefined, options: Options): Options {
  return hooks?.authenticate === undefined
    ? options
    : { ...options, connectTimeoutMs: options.connectTimeoutMs + HOOK_MS };
}
