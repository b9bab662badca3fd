/** The composition root: makes every part of a server and joins them. It answers nobody yet. */
import type { FastifyInstance } from 'fastify';
import type { Engine } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { AdvertisedLimits } from '../protocol/messages.ts';
import type { CallRecords } from '../records/calls.ts';
import type { ReferenceGenerator } from '../reference/generator.ts';
import { createRandomReferences } from '../reference/random.ts';
import { type Stop, systemClock } from '../support/clock.ts';
import { createDigest, type Log, silentLog } from '../support/log.ts';
import { type Random, systemRandom } from '../support/random.ts';
import { readWebhooks } from '../webhooks/settings.ts';
import { type RunningWebhooks, startWebhooks } from '../webhooks/start.ts';
import { createAlarms } from './alarms.ts';
import { createAllocation } from './allocation.ts';
import { type ClientAddress, createClientAddress } from './client-address.ts';
import { createDrain, type Drain } from './drain.ts';
import { createEntrance } from './entrance.ts';
import { createEvents } from './events.ts';
import { createFaults, type Faults } from './faults.ts';
import { openGateway } from './gateway.ts';
import { createGuesses } from './guesses.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';
import { createDeciders, HOOK_MS, type Hooks, withinTime } from './hooks.ts';
import type { House } from './house.ts';
import { addApi } from './http/api/api.ts';
import { createApp, type HttpRoute } from './http/app.ts';
import { addHealth } from './http/health.ts';
import { createHub } from './hub.ts';
import { createIce } from './ice.ts';
import { createIdentification } from './identification.ts';
import { createLifecycle } from './lifecycle.ts';
import { type Options, type PartialOptions, policyOf, poolOf, readOptions } from './options.ts';
import { createLowWaterAlarm, sumUp } from './pool-watch.ts';
import { createRelay } from './relay.ts';
import { Roster } from './roster.ts';
import { createSeating } from './seating.ts';
import { startSignalCount } from './signal-count.ts';
import type { Fittings, Signalbox } from './signalbox.ts';
import { closeHttp, createIo } from './socket-io.ts';
import { createResumeTokens } from './tokens.ts';

const NODE_ID_BYTES = 6;
const SECRET_BYTES = 32;

export interface Assembled {
  readonly signalbox: Signalbox;
  /** Its HTTP side, which listens nowhere yet. */
  readonly app: FastifyInstance;
  readonly routes: readonly HttpRoute[];
}

/** @throws OptionError when an option makes no sense. */
export async function assemble(given: PartialOptions, fittings: Fittings): Promise<Assembled> {
  const options = readOptions(given);
  // Complains about its option before anything is started, as the others do.
  const addressOf = createClientAddress(options.trustedProxies);
  const { clock = systemClock, random = systemRandom, log = silentLog } = fittings;
  // The alphabet of random text is the one of a node's name; the option's pattern is checked.
  const nodeId = (options.nodeId ?? random.text(NODE_ID_BYTES)) as NodeId;
  const engine = await fittings.engine({
    nodeId,
    policy: policyOf(options),
    pool: poolOf(options),
    feedKept: options.feedKept,
  });
  let references: ReferenceGenerator | undefined;
  let calls: CallRecords | undefined;
  let webhooks: RunningWebhooks | undefined;
  try {
    const { ledgerBehind } = createAlarms(engine.feed, log);
    references = (await fittings.references?.(options, ledgerBehind)) ?? createRandomReferences(clock, random);
    calls = fittings.calls?.({ options, nodeId, feed: engine.feed, clock, random, log });
    const secret = await findSecret(options, engine, random, log);
    const digest = createDigest(secret);
    const faults = createFaults(log, random);
    const routes: HttpRoute[] = [];
    const app = await createApp(options, faults, log, (route) => routes.push(route));
    const told = readWebhooks(options);
    webhooks = told && (await startWebhooks(told, { engine, clock, random, log, digest }));
    const house: House = {
      options,
      nodeId,
      engine,
      io: createIo(withTimeFor(fittings.hooks, options), engine, app.server),
      roster: new Roster((ref, signals) => calls?.countSignals(ref, signals)),
      references,
      ...(calls !== undefined && { calls }),
      ...(webhooks !== undefined && { webhooks }),
      clock,
      random,
      log,
      digest,
    };
    return { signalbox: furnish(house, app, faults, secret, addressOf, fittings.hooks ?? {}), app, routes };
  } catch (error) {
    await webhooks?.stop();
    await calls?.close();
    await Promise.all([references?.close(), engine.close()]);
    throw error;
  }
}

/** Joins the parts, and knows how to take it all down again. */
function furnish(
  house: House,
  app: FastifyInstance,
  faults: Faults,
  secret: string,
  addressOf: ClientAddress,
  hooks: Hooks,
): Signalbox {
  const { options, nodeId, engine, clock, random, log } = house;
  const pool = poolOf(options);
  const seating = createSeating(house);
  const allocation = createAllocation(engine, pool, random);
  const guesses = createGuesses(options.freeMisses, clock);
  const drain = createDrain(house);
  const tokens = createResumeTokens(secret, options.resumeTtlMs, clock);
  const deciders = createDeciders(hooks, clock, log);
  const identification = createIdentification(house, tokens, deciders.authenticate);
  const lifecycle = createLifecycle(house, seating, identification, drain, limitsOf(options));
  const ice = createIce(options, clock);
  const entrance = createEntrance(house, seating, allocation, guesses, deciders);
  const relay = createRelay(house);
  const hub = createHub(house, seating, entrance, relay, ice);
  openGateway(house, hub, lifecycle, faults, addressOf);
  engine.fanout.listen((notice) => seating.hear(notice));
  const events = createEvents(engine.feed, options.feedKept, log);
  if (hooks.onEvent) events.subscribe((event) => withinTime(clock, 'onEvent', (async () => hooks.onEvent?.(event))()));

  const heartbeat = startHeartbeat(house, seating, faults, ice);
  const signalCount = startSignalCount(house);
  const figures = () => sumUp(pool, heartbeat.stock);
  const alarm = createLowWaterAlarm(options.poolLowWater, log, createAlarms(engine.feed, log).poolLow);
  const stopAlarm = clock.every(options.tickMs, () => alarm(figures()));
  addHealth(app, house, drain, figures);
  addApi(app, { house, allocation, seating, relay, drain, faults, addressOf });

  const close = () => takeDown(house, app, drain, { heartbeat, signalCount, stopAlarm });
  let closing: Promise<void> | undefined;
  return {
    nodeId,
    options,
    engine,
    events,
    references: house.references.about,
    pool: async () => sumUp(pool, await allocation.stock()),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

interface AtWork {
  readonly heartbeat: Heartbeat;
  readonly signalCount: { readonly stop: Stop };
  readonly stopAlarm: Stop;
}

async function takeDown(
  { io, webhooks, calls, references, engine }: House,
  app: FastifyInstance,
  drain: Drain,
  { heartbeat, signalCount, stopAlarm }: AtWork,
): Promise<void> {
  await drain.begin();
  heartbeat.stop();
  stopAlarm();
  await closeHttp(io, app);
  signalCount.stop();
  // What has just happened is for the other nodes to send, or for the next start.
  await webhooks?.stop();
  // While there is a feed to read: what has just happened is recorded too.
  await calls?.close();
  await Promise.all([references.close(), engine.close()]);
}

/** Socket.IO counts the time of whoever decides about a connection, too. */
function withTimeFor(hooks: Hooks | undefined, options: Options): Options {
  return hooks?.authenticate === undefined
    ? options
    : { ...options, connectTimeoutMs: options.connectTimeoutMs + HOOK_MS };
}

async function findSecret({ secret }: Options, engine: Engine, random: Random, log: Log): Promise<string> {
  if (secret !== undefined) return secret;
  if (engine.fanout.adapter === undefined) log.info('no secret is given: resume tokens end with this process');
  else log.warn('no secret is given: the nodes share one through the store, where whoever reads the store can read it');
  return engine.sharedSecret(random.text(SECRET_BYTES));
}

const limitsOf = (options: Options): AdvertisedLimits => ({
  frameBytes: options.frameBytes,
  signalBytes: LIMITS.signalBytes,
  messageBytes: LIMITS.messageBytes,
  metadataBytes: LIMITS.metadataBytes,
  depth: LIMITS.depth,
  nameLength: LIMITS.nameLength,
  maxUsers: LIMITS.maxUsersMost,
  codeDigits: options.codeDigits,
  eventsPerSecond: options.eventsPerSecond,
  eventsBurst: options.eventsBurst,
});
