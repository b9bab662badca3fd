/** The composition root: makes every part of a server and joins them. It answers nobody yet. */
import type { FastifyInstance } from 'fastify';
import { LIMITS } from '../protocol/limits.ts';
import type { AdvertisedLimits } from '../protocol/messages.ts';
import { guardHooks, type Hooks, withinTime } from './auth/hooks.ts';
import { createResumeTokens } from './auth/resume-tokens.ts';
import { checkHooks } from './dependencies.ts';
import { addApi } from './http/api/api.ts';
import type { HttpRoute } from './http/app.ts';
import { addHealth } from './http/health.ts';
import { type ClientAddress, createClientAddress } from './limits/client-address.ts';
import { createGuessLimiter } from './limits/guess-limiter.ts';
import { createEvents } from './monitoring/events.ts';
import { createLowWaterAlarm, poolFigures } from './monitoring/pool-monitor.ts';
import { type OpenedStores, openFoundations } from './open-stores.ts';
import { type Options, type PartialOptions, poolOf, readOptions } from './options/options.ts';
import { createDrain, type Drain } from './presence/drain.ts';
import { createIdentityService } from './presence/identity.ts';
import { createLifecycle } from './presence/lifecycle.ts';
import { createSeating, type Seating } from './presence/membership.ts';
import { startHeartbeat } from './presence/tick.ts';
import { type CodeAllocator, createCodeAllocator } from './rooms/code-allocator.ts';
import { createEntrance } from './rooms/join-room.ts';
import { createRelay, type Relay } from './rooms/relay.ts';
import { createRequestHandlers } from './rooms/requests.ts';
import { createIceServers, type IceServers } from './sessions/ice-servers.ts';
import { closeAfterFailure, createShutdown, type Shutdown } from './shutdown.ts';
import type { ServerDependencies, Signalbox } from './signalbox.ts';
import { openGateway } from './sockets/gateway.ts';

export interface ComposedServer {
  readonly signalbox: Signalbox;
  /** Its HTTP side, which listens nowhere yet. */
  readonly app: FastifyInstance;
  readonly routes: readonly HttpRoute[];
}

/** @throws OptionError when an option makes no sense. */
export async function composeServer(given: PartialOptions, dependencies: ServerDependencies): Promise<ComposedServer> {
  const options = readOptions(given);
  const { hooks = {} } = dependencies;
  // These complain of their options before anything is started, as the others do.
  const addressOf = createClientAddress(options.trustedProxies);
  checkHooks(hooks, options);
  const shutdown = createShutdown();
  try {
    const foundations = await openFoundations(options, dependencies, shutdown);
    const { app, routes } = foundations;
    return { signalbox: furnish(foundations, addressOf, hooks, shutdown), app, routes };
  } catch (error) {
    await closeAfterFailure(shutdown.run, dependencies.log);
    throw error;
  }
}

/** Joins the parts, and lets them begin. */
function furnish(foundations: OpenedStores, addressOf: ClientAddress, hooks: Hooks, shutdown: Shutdown): Signalbox {
  const { context, app, faults } = foundations;
  const { options, nodeId, engine, clock, random, log } = context;
  const pool = poolOf(options);
  const seating = createSeating(context);
  const allocation = createCodeAllocator(engine, pool, random);
  const drain = createDrain(context);
  const ice = createIceServers(options, clock);
  const relay = createRelay(context);
  openSockets(foundations, { seating, allocation, drain, ice, relay }, addressOf, hooks);
  engine.fanout.onMessage((notice) => seating.hear(notice));

  const events = createEvents(engine.feed, options.feedMaxEvents, log);
  if (hooks.onEvent) events.subscribe((event) => withinTime(clock, 'onEvent', (async () => hooks.onEvent?.(event))()));

  const heartbeat = startHeartbeat(context, seating, faults, ice);
  shutdown.add(heartbeat.stop);
  const figures = () => poolFigures(pool, heartbeat.stock);
  const alarm = createLowWaterAlarm(options.poolLowWater, log, foundations.alarms.poolLow);
  shutdown.add(clock.every(options.tickMs, () => alarm(figures())));
  addHealth(app, context, drain, figures);
  addApi(app, { context, allocation, seating, relay, drain, faults, addressOf });
  shutdown.add(() => drain.begin());

  return {
    nodeId,
    options,
    engine,
    events,
    references: context.references.description,
    calls: context.calls === undefined ? 'not recorded' : `recorded, in ${context.calls.description}`,
    pool: async () => poolFigures(pool, await allocation.stock()),
    close: shutdown.run,
  };
}

interface Parts {
  readonly seating: Seating;
  readonly allocation: CodeAllocator;
  readonly drain: Drain;
  readonly ice: IceServers;
  readonly relay: Relay;
}

/** What clients speak with. */
function openSockets(
  { context, faults, secret }: OpenedStores,
  { seating, allocation, drain, ice, relay }: Parts,
  addressOf: ClientAddress,
  hooks: Hooks,
): void {
  const { options, clock, log } = context;
  const deciders = guardHooks(hooks, clock, log);
  const tokens = createResumeTokens(secret, options.resumeTtlMs, clock);
  const identification = createIdentityService(context, tokens, deciders.authenticate);
  const lifecycle = createLifecycle(context, seating, identification, drain, limitsOf(options));
  const guesses = createGuessLimiter(options.freeMisses, clock);
  const entrance = createEntrance(context, seating, allocation, guesses, deciders);
  openGateway(context, createRequestHandlers(context, seating, entrance, relay, ice), lifecycle, faults, addressOf);
}

const limitsOf = (options: Options): AdvertisedLimits => ({
  frameBytes: options.frameBytes,
  signalBytes: LIMITS.signalBytes,
  messageBytes: LIMITS.messageBytes,
  metadataBytes: LIMITS.metadataBytes,
  depth: LIMITS.depth,
  nameLength: LIMITS.nameLength,
  maxUsers: LIMITS.maxUsers.max,
  codeDigits: options.codeDigits,
  eventsPerSecond: options.eventsPerSecond,
  eventsBurst: options.eventsBurst,
});
