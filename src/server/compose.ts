/** The composition root: makes every part of a server and joins them. It answers nobody yet. */
import type { FastifyInstance } from 'fastify';
import { LIMITS } from '../protocol/limits.ts';
import type { AdvertisedLimits } from '../protocol/messages.ts';
import { createDeciders, type Hooks, withinTime } from './auth/hooks.ts';
import { createResumeTokens } from './auth/resume-tokens.ts';
import { checkHooks } from './dependencies.ts';
import { addApi } from './http/api/api.ts';
import type { HttpRoute } from './http/app.ts';
import { addHealth } from './http/health.ts';
import { type ClientAddress, createClientAddress } from './limits/client-address.ts';
import { createGuesses } from './limits/guess-limiter.ts';
import { createEvents } from './monitoring/events.ts';
import { createLowWaterAlarm, sumUp } from './monitoring/pool-monitor.ts';
import { type Foundations, layFoundations } from './open-stores.ts';
import { type Options, type PartialOptions, poolOf, readOptions } from './options/options.ts';
import { createDrain, type Drain } from './presence/drain.ts';
import { createIdentification } from './presence/identity.ts';
import { createLifecycle } from './presence/lifecycle.ts';
import { createSeating, type Seating } from './presence/membership.ts';
import { startHeartbeat } from './presence/tick.ts';
import { type Allocation, createAllocation } from './rooms/code-allocator.ts';
import { createEntrance } from './rooms/join-room.ts';
import { createRelay, type Relay } from './rooms/relay.ts';
import { createHub } from './rooms/requests.ts';
import { createIce, type Ice } from './sessions/ice-servers.ts';
import { createTakedown, type Takedown, takeBack } from './shutdown.ts';
import type { Fittings, Signalbox } from './signalbox.ts';
import { openGateway } from './sockets/gateway.ts';

export interface Assembled {
  readonly signalbox: Signalbox;
  /** Its HTTP side, which listens nowhere yet. */
  readonly app: FastifyInstance;
  readonly routes: readonly HttpRoute[];
}

/** @throws OptionError when an option makes no sense. */
export async function assemble(given: PartialOptions, fittings: Fittings): Promise<Assembled> {
  const options = readOptions(given);
  const { hooks = {} } = fittings;
  // These complain of their options before anything is started, as the others do.
  const addressOf = createClientAddress(options.trustedProxies);
  checkHooks(hooks, options);
  const takedown = createTakedown();
  try {
    const foundations = await layFoundations(options, fittings, takedown);
    const { app, routes } = foundations;
    return { signalbox: furnish(foundations, addressOf, hooks, takedown), app, routes };
  } catch (error) {
    await takeBack(takedown.run, fittings.log);
    throw error;
  }
}

/** Joins the parts, and lets them begin. */
function furnish(foundations: Foundations, addressOf: ClientAddress, hooks: Hooks, takedown: Takedown): Signalbox {
  const { house, app, faults } = foundations;
  const { options, nodeId, engine, clock, random, log } = house;
  const pool = poolOf(options);
  const seating = createSeating(house);
  const allocation = createAllocation(engine, pool, random);
  const drain = createDrain(house);
  const ice = createIce(options, clock);
  const relay = createRelay(house);
  openSockets(foundations, { seating, allocation, drain, ice, relay }, addressOf, hooks);
  engine.fanout.listen((notice) => seating.hear(notice));

  const events = createEvents(engine.feed, options.feedKept, log);
  if (hooks.onEvent) events.subscribe((event) => withinTime(clock, 'onEvent', (async () => hooks.onEvent?.(event))()));

  const heartbeat = startHeartbeat(house, seating, faults, ice);
  takedown.add(heartbeat.stop);
  const figures = () => sumUp(pool, heartbeat.stock);
  const alarm = createLowWaterAlarm(options.poolLowWater, log, foundations.alarms.poolLow);
  takedown.add(clock.every(options.tickMs, () => alarm(figures())));
  addHealth(app, house, drain, figures);
  addApi(app, { house, allocation, seating, relay, drain, faults, addressOf });
  takedown.add(() => drain.begin());

  return {
    nodeId,
    options,
    engine,
    events,
    references: house.references.about,
    calls: house.calls === undefined ? 'not recorded' : `recorded, in ${house.calls.about}`,
    pool: async () => sumUp(pool, await allocation.stock()),
    close: takedown.run,
  };
}

interface Parts {
  readonly seating: Seating;
  readonly allocation: Allocation;
  readonly drain: Drain;
  readonly ice: Ice;
  readonly relay: Relay;
}

/** What clients speak with. */
function openSockets(
  { house, faults, secret }: Foundations,
  { seating, allocation, drain, ice, relay }: Parts,
  addressOf: ClientAddress,
  hooks: Hooks,
): void {
  const { options, clock, log } = house;
  const deciders = createDeciders(hooks, clock, log);
  const tokens = createResumeTokens(secret, options.resumeTtlMs, clock);
  const identification = createIdentification(house, tokens, deciders.authenticate);
  const lifecycle = createLifecycle(house, seating, identification, drain, limitsOf(options));
  const guesses = createGuesses(options.freeMisses, clock);
  const entrance = createEntrance(house, seating, allocation, guesses, deciders);
  openGateway(house, createHub(house, seating, entrance, relay, ice), lifecycle, faults, addressOf);
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
