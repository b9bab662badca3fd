/** The engine of several nodes: one Redis, one script for each command. */
import { createShardedAdapter } from '@socket.io/redis-adapter';
import { NODE_ID_PATTERN, type NodeId } from '../../protocol/ids.ts';
import type { RedisClient } from '../../redis/client.ts';
import { connectRedis, type RedisClients } from '../../redis/connect.ts';
import type { Runner } from '../../redis/script-runner.ts';
import { StoreClock } from '../../redis/store-clock.ts';
import type { Command, Outcome } from '../../room/commands.ts';
import { SHARDS } from '../../room/pool.ts';
import { isUserCommand, shardOfCommand } from '../../room/rules.ts';
import { type Clock, systemClock } from '../../support/clock.ts';
import { type Log, silentLog } from '../../support/log.ts';
import { systemRandom } from '../../support/random.ts';
import { NodeBehind, StoreUnavailable } from '../../support/store.ts';
import { DEFAULT_PREFIX, type Engine, type EngineSettings, type Fanout, type NodeMessage } from '../engine.ts';
import { isSocketRoomOfMember } from '../socket-rooms.ts';
import { type Bus, createBus, redisChannel, socketRoomIn } from './bus.ts';
import { decode, encode, urgencyOf } from './commands.ts';
import { createRedisFeed } from './feed.ts';
import { createKeys, escapeGlob, type Keys } from './keys.ts';
import { Lives } from './lives.ts';
import type { MessageProbe } from './message-probe.ts';
import { parseNodeMessage } from './node-messages.ts';
import { NodeName } from './node-name.ts';
import { Peers } from './peers.ts';
import { keepOnSameServer } from './same-server.ts';
import { loadFeedScripts, loadScripts, type Scripts } from './scripts.ts';
import { type WatchedStore, watchStore } from './watched-store.ts';

const INSTANCE_BYTES = 12;

export interface RedisEngineOptions {
  /** As `redisUrl` has it. May hold credentials. */
  readonly url: string;
  /** The prefix of all keys and channels: servers with different prefixes can share a database of Redis. */
  readonly prefix?: string;
  /** How long to wait for a reply of Redis. */
  readonly deadlineMs?: number;
  /** How long another node with the name of this one may take to end, before this one gives up. */
  readonly predecessorMs?: number;
  readonly log?: Log;
  /** Replaces the time of Redis, in tests. */
  readonly clock?: Pick<Clock, 'now'>;
}

export interface RedisEngine extends Engine {
  /** Redis handles for the webhook queue, which reads the feed in the same Redis. */
  readonly redis: {
    readonly runner: Runner;
    /** The streams of the feed: one, or on a Cluster one for each shard. */
    readonly streams: readonly string[];
    readonly clock: Pick<Clock, 'now'> | undefined;
  };
}

/** @param scripts tests replace them to plant faults */
export function createRedisEngine(options: RedisEngineOptions, scripts: Scripts = loadScripts()) {
  const { url, prefix = DEFAULT_PREFIX, deadlineMs = 1_500, predecessorMs = 5_000, log = silentLog, clock } = options;
  /** @throws when Redis cannot be reached, or is one that would lose rooms. */
  return async (settings: EngineSettings): Promise<RedisEngine> => {
    let watch: WatchedStore | undefined;
    const lives = new Lives();
    const clients = await connectRedis({
      url,
      warn: (message) => log.warn(message),
      onConnectionChange: (role, up, error) => {
        log.info({ role, up, ...(error && { reason: error.message }) }, 'connection to Redis');
        watch?.runner.updateHealth();
        // It may be another Redis that answers next.
        if (!up) lives.forget();
      },
    });
    const keys = createKeys(prefix, clients);
    const storeClock = new StoreClock(systemClock);
    const bus = busOf(clients, { keys, deadlineMs, log, nodeId: settings.nodeId, storeClock });
    const all = [scripts, loadFeedScripts()].flatMap((some) => Object.values(some));
    watch = watchStore({ clients, bus, keys, storeClock, scripts: all, deadlineMs, log });
    const stops = [watch.stop, watchServer(clients, bus, bus.inbox(settings.nodeId), log)];
    const close = async (): Promise<void> => {
      for (const stop of stops) stop();
      await bus.close();
      await clients.close();
    };
    try {
      return await buildEngine({
        ...watch,
        lives,
        clients,
        bus,
        keys,
        scripts,
        settings,
        log,
        clock,
        predecessorMs,
        close,
      });
    } catch (error) {
      await close();
      throw error;
    }
  };
}

interface BusParts {
  readonly keys: Keys;
  readonly nodeId: NodeId;
  readonly deadlineMs: number;
  readonly storeClock: StoreClock;
  readonly log: Log;
}

function busOf({ pub, sub }: RedisClients, { keys, nodeId, deadlineMs, storeClock, log }: BusParts): Bus {
  return createBus(pub, sub, {
    channelPrefix: keys.channelPrefix,
    nodeId,
    deadlineMs,
    storeTime: () => storeClock.now(),
    unavailable: () => new StoreUnavailable('Redis does not answer'),
    // A member's channel without a subscriber tells at once that nobody receives a signal.
    lingers: (channel) => !isSocketRoomOfMember(channel),
    warn: (message, error) => log.warn({ err: error }, message),
  });
}

function watchServer(clients: RedisClients, bus: Bus, inbox: string, log: Log): () => void {
  // On a Cluster all of them are routed by one table of the slots.
  if (clients.state.cluster !== undefined) return () => {};
  const subscribersAt = async (client: RedisClient): Promise<number> =>
    (await client.pubSubShardNumSub([inbox]))[inbox] ?? 0;
  return keepOnSameServer({
    clients: [clients.state, clients.pub, clients.sub],
    live: () => bus.live(inbox),
    countSubscribers: () => Promise.all([clients.state, clients.pub].map(subscribersAt)),
    reconnect: () => clients.reconnect(),
    clock: systemClock,
    log,
  });
}

interface EngineDeps {
  readonly clients: RedisClients;
  readonly bus: Bus;
  readonly messages: MessageProbe;
  readonly runner: Runner;
  readonly lives: Lives;
  readonly keys: Keys;
  readonly scripts: Scripts;
  readonly settings: EngineSettings;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now'> | undefined;
  readonly predecessorMs: number;
  readonly close: () => Promise<void>;
}

async function buildEngine(deps: EngineDeps): Promise<RedisEngine> {
  const { clients, runner, keys, scripts, settings, clock, lives, close } = deps;
  const feedScripts = loadFeedScripts();
  // Loaded now, so that the first command of each kind takes one round trip too.
  const sources = [scripts, feedScripts].flatMap((some) => Object.values(some));
  await runner.load(sources);
  await checkPoolShape(deps);
  const fanout = await createFanout(deps);
  let onBehind: (shard: number) => void = () => {};
  return {
    name: `redis at ${clients.address}`,
    async apply<C extends Command>(command: C): Promise<Outcome<C>> {
      const args = encode(command, settings, keys, { ...lives.of(command), now: clock?.now() });
      const keysOf = keys.scriptKeysOf(command);
      const reply = await runner.run(scripts[command.kind], keysOf, args, urgencyOf(command));
      lives.learn(command, reply);
      try {
        return decode(command, reply, settings.policy);
      } catch (error) {
        if (error instanceof NodeBehind && !isUserCommand(command)) onBehind(shardOfCommand(command));
        throw error;
      }
    },
    onBehind: (listener) => {
      onBehind = listener;
    },
    fanout,
    feed: createRedisFeed({ runner, sub: clients.sub, keys, scripts: feedScripts, settings, log: deps.log, clock }),
    redis: { runner, streams: keys.feeds, clock },
    health: () => runner.health(),
    nodes: () => listNodes(deps),
    async sharedSecret(proposal) {
      const kept = await runner.call(() => clients.state.set(keys.secret, proposal, { condition: 'NX', GET: true }));
      return kept ?? proposal;
    },
    close,
  };
}

/** The index of a code depends on the shape of the pool: nodes with different shapes would corrupt each other's bitmaps. */
async function checkPoolShape({ clients, runner, keys, settings: { pool } }: EngineDeps): Promise<void> {
  const ours = `${pool.digits} digits, ${pool.perShard * SHARDS} codes`;
  const kept = await runner.call(() => clients.state.set(keys.pool, ours, { condition: 'NX', GET: true }));
  if (kept === null || kept === ours) return;
  throw new Error(
    `the codes in Redis under ${keys.prefix} are of another pool (${kept}) than this node's (${ours}): ` +
      'give all nodes the same codeDigits and poolSize, or another redisPrefix',
  );
}

/**
 * Subscribes to the node's own channel. By that subscription other nodes see it.
 *
 * @throws NodeIdTaken
 */
async function createFanout(deps: EngineDeps): Promise<Fanout> {
  const { bus, messages, runner, keys, settings, log } = deps;
  const channelPrefix = keys.socketPrefix;
  let receive: ((message: NodeMessage) => void) | undefined;
  const name = createNodeName(deps);
  bus.onMessage((text) => {
    if (name.receive(text)) return;
    const message = parseNodeMessage(text);
    if (message === undefined) log.warn('dropped an invalid message to this node');
    else receive?.(message);
  });
  const peers = new Peers(settings.nodeId, (text) => bus.announce(text));
  bus.onAnnouncement((text) => {
    if (!peers.receive(text)) log.warn('dropped an invalid announcement of a node');
  });
  await bus.live(bus.inbox(settings.nodeId));
  await name.take();
  return {
    adapter: createShardedAdapter(bus.pub, bus.sub, { channelPrefix, subscriptionMode: 'dynamic' }),
    // The runner too: its commands tell of a frozen Redis before the first publish has missed its deadline.
    isUp(room) {
      const channel = redisChannel(channelPrefix, room);
      return bus.isUp(channel) && runner.answersTo(channel) && messages.refusal === undefined;
    },
    live: (room) => bus.live(redisChannel(channelPrefix, room)),
    deliver: (room, event) => bus.deliver(redisChannel(channelPrefix, room), event),
    broadcast: (room, event) => bus.broadcast(redisChannel(channelPrefix, room), event),
    onEvent: (receivers) => {
      bus.onEvent((channel, event, isCall) => {
        const room = socketRoomIn(channelPrefix, channel);
        if (isCall) return receivers.deliver(room, event);
        receivers.broadcast(room, event);
        return 0;
      });
    },
    announce: (addresses) => peers.announce(addresses),
    peers: () => peers.addresses,
    leave: (withinMs) => name.leave(withinMs),
    send: (nodeId, message) => bus.send(nodeId, JSON.stringify(message)),
    onMessage: (listener) => {
      receive = listener;
    },
  };
}

function createNodeName({ bus, clients, settings: { nodeId }, log, predecessorMs }: EngineDeps): NodeName {
  const name = new NodeName({
    nodeId,
    instance: systemRandom.text(INSTANCE_BYTES),
    publish: (text) => bus.send(nodeId, text),
    countReceivers: (text) => bus.countReceivers(nodeId, text),
    waitMs: predecessorMs,
    clock: systemClock,
    log,
  });
  // After a loss both connections are needed: whichever is back last finds the other one there.
  const takeAgain = (): void => {
    bus.live(bus.inbox(nodeId)).then(
      () => name.takeAgain(),
      () => {}, // lost again: it is taken when the connection is back
    );
  };
  for (const client of [clients.pub, clients.sub]) client.on('ready', takeAgain);
  return name;
}

/** Every node subscribes to its inbox: the inboxes with a subscriber are the connected nodes. */
async function listNodes({ bus, clients, runner, settings }: EngineDeps): Promise<NodeId[]> {
  const inboxPrefix = bus.inbox('');
  const inboxes = await runner.call(() => clients.state.pubSubShardChannels(`${escapeGlob(inboxPrefix)}*`));
  // A prefix that begins with all of this one has inboxes that match too, but no node id is part of a name like theirs.
  const nodes = inboxes.map((inbox) => inbox.slice(inboxPrefix.length)).filter(isNodeId);
  return [...new Set([settings.nodeId, ...nodes])];
}

const isNodeId = (text: string): text is NodeId => NODE_ID_PATTERN.test(text);
