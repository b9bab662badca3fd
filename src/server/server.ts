/** The composition root: makes every part and joins them. No globals: two servers live in one process. */
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Server as IoServer } from 'socket.io';
import type { Engine, EngineSettings } from '../engine/engine.ts';
import type { NodeId } from '../protocol/ids.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { AdvertisedLimits } from '../protocol/messages.ts';
import type { ReferenceGenerator } from '../reference/generator.ts';
import { createRandomReferences } from '../reference/random.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import { createDigest, type Log, silentLog } from '../support/log.ts';
import { type Random, systemRandom } from '../support/random.ts';
import { createAllocation } from './allocation.ts';
import { type ClientAddress, createClientAddress } from './client-address.ts';
import { createDrain } from './drain.ts';
import { createEntrance } from './entrance.ts';
import { createFaults, type Faults } from './faults.ts';
import { openGateway } from './gateway.ts';
import { createGuesses } from './guesses.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { House } from './house.ts';
import { addAdmin } from './http/admin.ts';
import { createApp } from './http/app.ts';
import { addHealth } from './http/health.ts';
import { createHub } from './hub.ts';
import { createIce } from './ice.ts';
import { createLifecycle } from './lifecycle.ts';
import { type Options, type PartialOptions, policyOf, poolOf, readOptions } from './options.ts';
import { createOriginGate } from './origins.ts';
import { guardedParser } from './parser.ts';
import { createLowWaterAlarm, type PoolFigures, sumUp } from './pool-watch.ts';
import { createRelay } from './relay.ts';
import { Roster } from './roster.ts';
import { createSeating } from './seating.ts';
import type { Io } from './session.ts';
import { createResumeTokens } from './tokens.ts';

/** What a server is built with. Everything but the engine has a default. */
export interface Fittings {
  readonly engine: (settings: EngineSettings) => Engine | Promise<Engine>;
  /** Where rooms get their refs; by chance, unless this gives another. The server closes it. */
  readonly references?: (options: Options) => ReferenceGenerator | undefined | Promise<ReferenceGenerator | undefined>;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
}

export interface SignalboxServer {
  readonly nodeId: NodeId;
  readonly options: Options;
  /** Where it listens, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly port: number;
  readonly engine: Engine;
  /** For people: how rooms get their refs. */
  readonly references: string;
  pool(): Promise<PoolFigures>;
  /** Asks every client to go elsewhere, then ends everything that was started. */
  close(): Promise<void>;
}

const NODE_ID_BYTES = 6;
const SECRET_BYTES = 32;
/** For answers that are being written when the server closes. */
const HTTP_FAREWELL_MS = 100;

/**
 * Starts a server; resolves when it listens.
 *
 * @throws OptionError when an option makes no sense.
 */
export async function startServer(given: PartialOptions, fittings: Fittings): Promise<SignalboxServer> {
  const options = readOptions(given);
  // Complains about its option before anything is started, as the others do.
  const addressOf = createClientAddress(options.trustedProxies);
  const { clock = systemClock, random = systemRandom, log = silentLog } = fittings;
  // The alphabet of random text is the one of a node's name; the option's pattern is checked.
  const nodeId = (options.nodeId ?? random.text(NODE_ID_BYTES)) as NodeId;
  const engine = await fittings.engine({ nodeId, policy: policyOf(options), pool: poolOf(options), feedKept: options.feedKept });
  let references: ReferenceGenerator | undefined;
  try {
    references = (await fittings.references?.(options)) ?? createRandomReferences(clock, random);
    const secret = await findSecret(options, engine, random, log);
    const faults = createFaults(log, random);
    const app = await createApp(options, faults, log);
    const house: House = {
      options,
      nodeId,
      engine,
      io: createIo(options, engine, app.server),
      roster: new Roster(),
      references,
      clock,
      random,
      log,
      digest: createDigest(secret),
    };
    return await furnish(house, app, faults, secret, addressOf);
  } catch (error) {
    await Promise.all([references?.close(), engine.close()]);
    throw error;
  }
}

/** Joins the parts, listens, and knows how to take it all down again. */
async function furnish(
  house: House,
  app: FastifyInstance,
  faults: Faults,
  secret: string,
  addressOf: ClientAddress,
): Promise<SignalboxServer> {
  const { options, nodeId, engine, io, clock, random, log } = house;
  const pool = poolOf(options);
  const seating = createSeating(house);
  const allocation = createAllocation(engine, pool, random);
  const guesses = createGuesses(options.freeMisses, clock);
  const drain = createDrain(house);
  const tokens = createResumeTokens(secret, options.resumeTtlMs, clock);
  const lifecycle = createLifecycle(house, seating, tokens, drain, limitsOf(options));
  const ice = createIce(options, clock);
  const hub = createHub(house, seating, createEntrance(house, seating, allocation, guesses), createRelay(house), ice);
  openGateway(house, hub, lifecycle, faults, addressOf);
  engine.fanout.listen((notice) => seating.hear(notice));

  const heartbeat = startHeartbeat(house, seating, faults, ice);
  const figures = () => sumUp(pool, heartbeat.stock);
  const alarm = createLowWaterAlarm(options.poolLowWater, log);
  const stopAlarm = clock.every(options.tickMs, () => alarm(figures()));
  addHealth(app, house, drain, figures);
  addAdmin(app, house, allocation);

  const close = async () => {
    await drain.begin();
    heartbeat.stop();
    stopAlarm();
    await closeHttp(io, app);
    await Promise.all([house.references.close(), engine.close()]);
  };
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (error) {
    await close();
    throw error;
  }
  // A server that listens on TCP has an address and a port.
  const { port } = app.server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    nodeId,
    options,
    url: `http://${EVERYWHERE.has(options.host) ? 'localhost' : options.host}:${port}`,
    port,
    engine,
    references: house.references.about,
    pool: async () => sumUp(pool, await allocation.stock()),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Socket.IO waits for every HTTP connection to end, and one that is kept alive by its client takes over a minute. */
async function closeHttp(io: Io, app: FastifyInstance): Promise<void> {
  const cutting = setInterval(() => app.server.closeAllConnections(), HTTP_FAREWELL_MS);
  try {
    await io.close();
    await app.close();
  } finally {
    clearInterval(cutting);
  }
}

/** Addresses to listen on that nobody can open a page at. */
const EVERYWHERE = new Set(['0.0.0.0', '::']);

async function findSecret({ secret }: Options, engine: Engine, random: Random, log: Log): Promise<string> {
  if (secret !== undefined) return secret;
  if (engine.fanout.adapter === undefined) log.info('no secret is given: resume tokens end with this process');
  else log.warn('no secret is given: the nodes share one through the store, where whoever reads the store can read it');
  return engine.sharedSecret(random.text(SECRET_BYTES));
}

function createIo(options: Options, engine: Engine, server: HttpServer): Io {
  return new IoServer(server, {
    transports: [...options.transports],
    serveClient: false,
    pingInterval: options.pingIntervalMs,
    pingTimeout: options.pingTimeoutMs,
    connectTimeout: options.connectTimeoutMs,
    maxHttpBufferSize: options.frameBytes,
    parser: guardedParser,
    allowRequest: createOriginGate(options.allowedOrigins),
    // The engine does not know Socket.IO's types; what it gives is made by an adapter package for this very option.
    ...(engine.fanout.adapter !== undefined && { adapter: engine.fanout.adapter as never }),
  });
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
