/** The composition root: makes every part and joins them. No globals: two servers live in one process. */
import type { FastifyInstance } from 'fastify';
import type { Engine, EngineSettings } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { AdvertisedLimits } from '../protocol/messages.ts';
import type { CallRecords } from '../records/calls.ts';
import type { ReferenceGenerator, ReferenceNotice } from '../reference/generator.ts';
import { createRandomReferences } from '../reference/random.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import { createDigest, type Log, silentLog } from '../support/log.ts';
import { type Random, systemRandom } from '../support/random.ts';
import { readWebhooks } from '../webhooks/settings.ts';
import { type RunningWebhooks, startWebhooks } from '../webhooks/start.ts';
import { createAlarms } from './alarms.ts';
import { createAllocation } from './allocation.ts';
import { type ClientAddress, createClientAddress } from './client-address.ts';
import { createDrain } from './drain.ts';
import { type Door, openDoor, optionsWithin, type Place } from './embedding.ts';
import { createEntrance } from './entrance.ts';
import { createEvents, type Events } from './events.ts';
import { createFaults, type Faults } from './faults.ts';
import { openGateway } from './gateway.ts';
import { createGuesses } from './guesses.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createDeciders, HOOK_MS, type Hooks, withinTime } from './hooks.ts';
import type { House } from './house.ts';
import { addApi } from './http/api/api.ts';
import { createApp, type HttpRoute } from './http/app.ts';
import { addHealth } from './http/health.ts';
import { createHub } from './hub.ts';
import { createIce } from './ice.ts';
import { createIdentification } from './identification.ts';
import { createLifecycle } from './lifecycle.ts';
import { listen } from './listening.ts';
import { type Options, type PartialOptions, policyOf, poolOf, readOptions } from './options.ts';
import { createLowWaterAlarm, type PoolFigures, sumUp } from './pool-watch.ts';
import { createRelay } from './relay.ts';
import { Roster } from './roster.ts';
import { createSeating } from './seating.ts';
import { startSignalCount } from './signal-count.ts';
import { closeHttp, createIo } from './socket-io.ts';
import { createResumeTokens } from './tokens.ts';

/** What a server is built with. Everything but the engine has a default. */
export interface Fittings {
  readonly engine: (settings: EngineSettings) => Engine | Promise<Engine>;
  /** Where rooms get their refs; by chance, unless this gives another. The server closes it. */
  readonly references?: (
    options: Options,
    onNotice: (notice: ReferenceNotice) => void,
  ) => ReferenceGenerator | undefined | Promise<ReferenceGenerator | undefined>;
  /** Where calls are recorded; nowhere, unless this says. The server closes it, while the engine is there still. */
  readonly calls?: (node: RecordingNode) => CallRecords | undefined;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  /** What the program around it decides. */
  readonly hooks?: Hooks;
}

export interface RecordingNode {
  readonly options: Options;
  readonly nodeId: NodeId;
  readonly feed: Engine['feed'];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** A server, wherever it answers. */
export interface Signalbox {
  readonly nodeId: NodeId;
  readonly options: Options;
  readonly engine: Engine;
  /** What happens on this node. */
  readonly events: Events;
  /** For people: how rooms get their refs. */
  readonly references: string;
  pool(): Promise<PoolFigures>;
  /** Asks every client to go elsewhere, then ends everything that was started. */
  close(): Promise<void>;
}

/** One that listens on a port of its own. */
export interface SignalboxServer extends Signalbox {
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly port: number;
}

/** One in a server of somebody else's, who alone knows where that listens. Closing it leaves that server as it was. */
export interface EmbeddedSignalbox extends Signalbox {
  /**
   * Answers a request to one of its paths, whether `prefix` is still before it or a router has taken it away. A Fastify
   * instance has them as routes already.
   *
   * @throws Error when the body has been read: hand requests over before whatever parses bodies.
   */
  readonly handle: Door['handle'];
}

const NODE_ID_BYTES = 6;
const SECRET_BYTES = 32;

/**
 * Starts a server; resolves when it listens.
 *
 * @throws OptionError when an option makes no sense.
 */
export async function startServer(given: PartialOptions, fittings: Fittings): Promise<SignalboxServer> {
  const { signalbox, app } = await assemble(given, fittings);
  try {
    return { ...signalbox, ...(await listen(app, signalbox.options)) };
  } catch (error) {
    await signalbox.close();
    throw error;
  }
}

/**
 * Starts a server in that of somebody else; resolves when it answers what it is handed.
 *
 * @throws OptionError when an option makes no sense, or none there.
 */
export async function embedServer(given: PartialOptions, fittings: Fittings, place: Place): Promise<EmbeddedSignalbox> {
  const { signalbox, app, routes } = await assemble(optionsWithin(given, place), fittings);
  let door: Door | undefined;
  // Until they have been told, clients that come are refused with a reason.
  const close = async () => {
    await signalbox.close();
    door?.shut();
  };
  try {
    await app.ready();
    door = openDoor(place, app.server, routes, signalbox.options, close);
    return { ...signalbox, handle: door.handle, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Assembled {
  readonly signalbox: Signalbox;
  /** Its HTTP side, which listens nowhere yet. */
  readonly app: FastifyInstance;
  readonly routes: readonly HttpRoute[];
}

async function assemble(given: PartialOptions, fittings: Fittings): Promise<Assembled> {
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
  const { options, nodeId, engine, io, clock, random, log } = house;
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

  const close = async () => {
    await drain.begin();
    heartbeat.stop();
    stopAlarm();
    await closeHttp(io, app);
    signalCount.stop();
    // What has just happened is for the other nodes to send, or for the next start.
    await house.webhooks?.stop();
    // While there is a feed to read: what has just happened is recorded too.
    await house.calls?.close();
    await Promise.all([house.references.close(), engine.close()]);
  };
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

/** Socket.IO counts the time of whoever decides about a connection, too. */
function withTimeFor({ authenticate }: Hooks = {}, options: Options): Options {
  return authenticate === undefined ? options : { ...options, connectTimeoutMs: options.connectTimeoutMs + HOOK_MS };
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
