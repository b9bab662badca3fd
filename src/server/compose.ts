/** The composition root: makes every part of a server and connects them. The server does not listen yet. */
import type { FastifyInstance } from 'fastify';
import { LIMITS } from '../protocol/limits.ts';
import type { AdvertisedLimits } from '../protocol/messages.ts';
import { type GuardedHooks, guardHooks, HOOK_MS, type Hooks, withinTime } from './auth/hooks.ts';
import { createResumeTokens } from './auth/resume-tokens.ts';
import type { ServerContext } from './context.ts';
import { checkHooks, type ServerDependencies } from './dependencies.ts';
import { addApi } from './http/api/api.ts';
import { createApp, type HttpRoute } from './http/app.ts';
import { addHealth } from './http/health.ts';
import { OpenAnswers } from './http/open-answers.ts';
import { AdmissionRate } from './limits/admission-rate.ts';
import { type ClientAddress, createClientAddress } from './limits/client-address.ts';
import { GuessLimiter } from './limits/guess-limiter.ts';
import { ResumeBudget } from './limits/resume-budget.ts';
import { createEvents } from './monitoring/events.ts';
import { createLowWaterAlarm, poolFigures } from './monitoring/pool-monitor.ts';
import { type Options, type PartialOptions, readOptions } from './options/options.ts';
import { createDrain, type Drain } from './presence/drain.ts';
import { startFence } from './presence/fence.ts';
import { IdentityService } from './presence/identity.ts';
import { learnEvent } from './presence/learn-event.ts';
import { onNodeMessage } from './presence/node-messages.ts';
import { watchRemoteBroadcasts } from './presence/remote-broadcasts.ts';
import { startStallWatch } from './presence/stall-watch.ts';
import { startTick } from './presence/tick.ts';
import { CodeAllocator } from './rooms/code-allocator.ts';
import { createRequestHandlers } from './rooms/requests.ts';
import { broadcastHere, deliverHere } from './sessions/events-here.ts';
import { createIceServers, type IceServers } from './sessions/ice-servers.ts';
import { closeAfterFailure, createShutdown, type Shutdown } from './shutdown.ts';
import type { Signalbox } from './signalbox.ts';
import { Gateway } from './sockets/gateway.ts';
import { closeIo, createIo, endLateCloses } from './sockets/socket-io.ts';
import { openStores, type Stores } from './stores.ts';

/**
 * Free wrong refs of an address. More than of codes: a class whose room has ended joins by its old ref once each. Refs are
 * counted, so without a bound every code could be tried with a guessed one.
 */
const FREE_REF_MISSES = 100;
/** Free wrong tokens of an address, before its next wrong ones have to wait: a back end with an old one tries a few. */
const FREE_WRONG_TOKENS = 20;

export interface ComposedServer {
  readonly signalbox: Signalbox;
  readonly app: FastifyInstance;
  readonly routes: readonly HttpRoute[];
}

/** @throws OptionError when an option makes no sense. */
export async function composeServer(given: PartialOptions, dependencies: ServerDependencies): Promise<ComposedServer> {
  const options = readOptions(given);
  const { hooks = {} } = dependencies;
  // Both check options, and do so before anything is started.
  const addressOf = createClientAddress(options.trustedProxies);
  checkHooks(hooks, options);
  const shutdown = createShutdown();
  try {
    const stores = await openStores(options, dependencies, shutdown);
    const { app, routes, drain, context } = await openHttp(stores, { addressOf, hooks, shutdown });
    const { signalbox, begun } = connectParts({ stores, context, app, drain, addressOf, hooks, shutdown });
    // A store without a state, which nobody has to restore, takes rooms from then on.
    await begun;
    return { signalbox, app, routes };
  } catch (error) {
    await closeAfterFailure(shutdown.run, dependencies.log);
    throw error;
  }
}

/** The HTTP server, and Socket.IO on it. */
async function openHttp(
  { base }: Stores,
  { addressOf, hooks, shutdown }: Pick<ComposeParts, 'addressOf' | 'hooks' | 'shutdown'>,
) {
  const { options, engine, clock, random, log, faults } = base;
  const routes: HttpRoute[] = [];
  const answers = new OpenAnswers();
  const app = await createApp({ options, faults, log, answers, onRoute: (route) => routes.push(route) });
  shutdown.add(() => app.close());
  const ioOptions = withHookTime(hooks, options);
  const { io, endHolds } = createIo({ options: ioOptions, engine, server: app.server, addressOf, clock, random, log });
  answers.watch(app.server);
  shutdown.add(endLateCloses(io, clock));
  const drain = createDrain(base);
  shutdown.add(() => closeIo(io, app.server, answers, drain.leftMs));
  shutdown.add(endHolds);
  return { app, routes, drain, context: { ...base, io } };
}

interface ComposeParts {
  readonly stores: Stores;
  readonly context: ServerContext;
  readonly app: FastifyInstance;
  readonly drain: Drain;
  readonly addressOf: ClientAddress;
  readonly hooks: Hooks;
  readonly shutdown: Shutdown;
}

function connectParts(parts: ComposeParts): { readonly signalbox: Signalbox; readonly begun: Promise<unknown> } {
  const { context, app, drain, addressOf, hooks, shutdown } = parts;
  const { options, nodeId, engine, clock, random, log, references, calls } = context;
  const allocator = new CodeAllocator(engine, context.pool, random);
  const iceServers = createIceServers(options, clock);
  openSockets(parts, { allocator, iceServers });
  engine.fanout.onMessage((message) => onNodeMessage(context, message));
  engine.fanout.onEvent({
    deliver: (room, event) => deliverHere(context.io, room, event),
    broadcast: (room, event) => broadcastHere(context.io, room, event),
  });
  watchRemoteBroadcasts(context.io, (event) => learnEvent(context, event));
  const events = createEvents(engine.feed, options.feedMaxEvents, log);
  if (hooks.onEvent) events.subscribe((event) => withinTime(clock, 'onEvent', (async () => hooks.onEvent?.(event))()));
  const { pool, begun } = watchPool(parts, iceServers);
  shutdown.add(startFence(context, app.server));
  const guard = { context, drain, addressOf, wrongTokens: new GuessLimiter(FREE_WRONG_TOKENS, clock) };
  addHealth(app, { ...guard, pool });
  addApi(app, { ...guard, allocator });
  shutdown.add(() => drain.begin());
  const signalbox: Signalbox = {
    nodeId,
    options,
    engine,
    events,
    references: references.description,
    calls: calls === undefined ? 'not recorded' : `recorded, in ${calls.description}`,
    pool: async () => poolFigures(context.pool, await allocator.stats()),
    async close({ waitForBalancers = false } = {}) {
      if (waitForBalancers) await drain.leave();
      await shutdown.run();
    },
  };
  return { signalbox, begun };
}

interface SocketParts {
  readonly allocator: CodeAllocator;
  readonly iceServers: IceServers;
}

function openSockets(
  { context, stores, drain, addressOf, hooks: given }: ComposeParts,
  { allocator, iceServers }: SocketParts,
): void {
  const { options, clock, log } = context;
  const hooks: GuardedHooks = guardHooks(given, clock, log);
  const tokens = createResumeTokens(stores.secret, options.resumeTtlMs, clock);
  const identity = new IdentityService(context, tokens, hooks.authenticate);
  const codeGuesses = new GuessLimiter(options.freeMisses, clock);
  const refGuesses = new GuessLimiter(FREE_REF_MISSES, clock, 'CODE_EXPIRED');
  const handlers = createRequestHandlers({ context, hooks, allocator, iceServers, codeGuesses, refGuesses });
  const resumes = new ResumeBudget(clock);
  const admissions = new AdmissionRate(options, clock, context.random);
  const lifecycle = { context, identity, drain, limits: limitsOf(options), resumes, admissions };
  new Gateway(lifecycle, handlers, addressOf).open();
}

/** Starts the tick and the alarm that reads its figures. @returns the figures of the pool as the last tick knew them. */
function watchPool({ stores, context, shutdown }: ComposeParts, iceServers: IceServers) {
  const { options, clock, log } = context;
  const tick = startTick(context, iceServers);
  shutdown.add(tick.stop);
  shutdown.add(startStallWatch(context));
  const figures = () => poolFigures(context.pool, tick.stats);
  const alarm = createLowWaterAlarm(options.poolLowWater, log, stores.alarms.poolLow);
  shutdown.add(clock.every(options.tickMs, () => alarm(figures())));
  return { pool: figures, begun: tick.begun };
}

/** Socket.IO's time limit for a handshake includes the hook's. */
function withHookTime(hooks: Hooks, options: Options): Options {
  if (hooks.authenticate === undefined) return options;
  return { ...options, connectTimeoutMs: options.connectTimeoutMs + HOOK_MS };
}

const limitsOf = (options: Options): AdvertisedLimits => ({
  frameBytes: options.frameBytes,
  signalBytes: LIMITS.signalBytes,
  messageBytes: LIMITS.messageBytes,
  metadataBytes: LIMITS.metadataBytes,
  depth: LIMITS.depth,
  values: LIMITS.values,
  nameLength: LIMITS.nameLength,
  maxUsers: LIMITS.maxUsers.max,
  codeDigits: options.codeDigits,
  eventsPerSecond: options.eventsPerSecond,
  eventsBurst: options.eventsBurst,
  roomBytesPerSecond: options.roomBytesPerSecond,
});
