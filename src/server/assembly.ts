/** The composition root: makes every part of a server and joins them. It answers nobody yet. */
import type { FastifyInstance } from 'fastify';
import { LIMITS } from '../protocol/limits.ts';
import type { AdvertisedLimits } from '../protocol/messages.ts';
import { type Allocation, createAllocation } from './allocation.ts';
import { type ClientAddress, createClientAddress } from './client-address.ts';
import { createDrain, type Drain } from './drain.ts';
import { createEntrance } from './entrance.ts';
import { createEvents } from './events.ts';
import { checkHooks } from './fittings.ts';
import { type Foundations, layFoundations } from './foundations.ts';
import { openGateway } from './gateway.ts';
import { createGuesses } from './guesses.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createDeciders, type Hooks, withinTime } from './hooks.ts';
import { addApi } from './http/api/api.ts';
import type { HttpRoute } from './http/app.ts';
import { addHealth } from './http/health.ts';
import { createHub } from './hub.ts';
import { createIce, type Ice } from './ice.ts';
import { createIdentification } from './identification.ts';
import { createLifecycle } from './lifecycle.ts';
import { type Options, type PartialOptions, poolOf, readOptions } from './options.ts';
import { createLowWaterAlarm, sumUp } from './pool-watch.ts';
import { createRelay, type Relay } from './relay.ts';
import { createSeating, type Seating } from './seating.ts';
import type { Fittings, Signalbox } from './signalbox.ts';
import { createTakedown, type Takedown, takeBack } from './takedown.ts';
import { createResumeTokens } from './tokens.ts';

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
