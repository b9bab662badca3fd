/** Opens what a server works with before it has a socket: engine, references, call records, webhooks. */
import type { Engine } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import { createRandomReferences } from '../reference/random.ts';
import { Reattempts } from '../support/async/reattempts.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import { createDigest, type Log, silentLog } from '../support/log.ts';
import { type Random, systemRandom } from '../support/random.ts';
import { readWebhooks } from '../webhooks/settings.ts';
import { startWebhooks } from '../webhooks/start.ts';
import type { ServerContext } from './context.ts';
import type { ServerDependencies } from './dependencies.ts';
import { createFaults } from './faults.ts';
import { type Alarms, createAlarms } from './monitoring/alarms.ts';
import { SignalCounter } from './monitoring/signal-counter.ts';
import { type Options, policyOf, poolOf } from './options/options.ts';
import { RoomReads } from './room-reads.ts';
import { DepartedSeats } from './sessions/departed-seats.ts';
import { ReleasedCodes } from './sessions/released-codes.ts';
import { SessionRegistry } from './sessions/session-registry.ts';
import type { Shutdown } from './shutdown.ts';

const NODE_ID_BYTES = 6;
const SECRET_BYTES = 32;

export interface Stores {
  /** Everything but the sockets. */
  readonly base: Omit<ServerContext, 'io'>;
  readonly alarms: Alarms;
  /** Signs resume tokens. */
  readonly secret: string;
}

/** @param shutdown is given the closing of each store as soon as it is open. */
export async function openStores(
  options: Options,
  dependencies: ServerDependencies,
  shutdown: Shutdown,
): Promise<Stores> {
  const { clock = systemClock, random = systemRandom, log = silentLog } = dependencies;
  // Random text is of the alphabet of a node id; the option is checked by its pattern.
  const nodeId = (options.nodeId ?? random.text(NODE_ID_BYTES)) as NodeId;
  const unlock = await dependencies.lockDataDir?.(options);
  if (unlock !== undefined) shutdown.add(unlock);
  const engine = await openEngine(options, nodeId, dependencies, shutdown);
  const { feed } = engine;
  const reattempts = new Reattempts({ clock, random, log });
  // After the sessions have ended, and before the engine does.
  shutdown.add(() => reattempts.stop());
  const alarms = createAlarms(feed, log);
  const references =
    (await dependencies.references?.(options, alarms.ledgerBehind)) ?? createRandomReferences(clock, random);
  shutdown.add(() => references.close());
  const calls = dependencies.calls?.({ options, nodeId, feed, clock, random, log });
  // Before the engine closes: the last events are read from its feed and recorded.
  if (calls !== undefined) shutdown.add(() => calls.close());
  const secret = await findSecret(options, engine, random, log);
  const digest = createDigest(secret);
  const settings = readWebhooks(options);
  const queue = settings && (await dependencies.webhookQueue(engine, clock));
  const webhooks = queue && (await startWebhooks(settings, { feed, queue, clock, random, log, digest }));
  // Events of this shutdown are sent by the other nodes, or after the next start.
  if (webhooks !== undefined) shutdown.add(() => webhooks.stop());
  const signals = startSignalCounter(options, { calls, clock }, shutdown);
  const base = {
    options,
    nodeId,
    pool: poolOf(options),
    engine,
    references,
    signals,
    reattempts,
    clock,
    random,
    log,
    digest,
    reads: new RoomReads((command) => engine.apply(command)),
    registry: new SessionRegistry((ref) => signals.flushRoom(ref)),
    ...createEndings(options, clock),
    faults: createFaults(log, random),
    ...(calls !== undefined && { calls }),
    ...(webhooks !== undefined && { webhooks }),
  };
  return { base, alarms, secret };
}

/** What this node has seen end, for a store that has lost it. */
const createEndings = ({ codeCooldownMs }: Options, clock: Clock) => ({
  released: new ReleasedCodes(clock, codeCooldownMs),
  departed: new DepartedSeats(clock),
});

async function openEngine(
  options: Options,
  nodeId: NodeId,
  dependencies: ServerDependencies,
  shutdown: Shutdown,
): Promise<Engine> {
  const { feedMaxEvents } = options;
  const settings = { nodeId, policy: policyOf(options), pool: poolOf(options), feedMaxEvents };
  const engine = await dependencies.engine(settings);
  shutdown.add(() => engine.close());
  return engine;
}

/** Its last report comes after the sockets have closed and before the records do. */
function startSignalCounter(
  { tickMs }: Options,
  { calls, clock }: Pick<ServerContext, 'clock'> & { readonly calls: ServerContext['calls'] | undefined },
  shutdown: Shutdown,
): SignalCounter {
  const signals = new SignalCounter(calls && ((ref, count) => calls.countSignals(ref, count)));
  const stop = clock.every(tickMs, () => signals.flush());
  shutdown.add(() => {
    stop();
    signals.flush();
  });
  return signals;
}

async function findSecret({ secret }: Options, engine: Engine, random: Random, log: Log): Promise<string> {
  if (secret !== undefined) return secret;
  if (engine.fanout.adapter === undefined) log.info('no secret is given: resume tokens end with this process');
  else log.warn('no secret is given: the nodes share one through the store, and every reader of the store can read it');
  return engine.sharedSecret(random.text(SECRET_BYTES));
}
