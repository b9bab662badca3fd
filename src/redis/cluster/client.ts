/**
 * A client of a Cluster: each command goes to the master of its key. Not node-redis' own client for Clusters: it holds
 * commands back while a master is away and repeats those whose reply was lost, and it does not notice a frozen master.
 */
import { EventEmitter } from 'node:events';
import type { ClusterConnections, ConnectionEvent, PlainClient, RedisClient, ScriptCall } from '../client.ts';
import { Masters, type MastersOptions } from './masters.ts';
import { runRouted } from './redirects.ts';
import { slotOf, tagOf } from './slots.ts';
import { TextSubscriptions } from './text-subscriptions.ts';
import type { Topology } from './topology.ts';

/** Ready while one master is connected: the commands for the others are refused at once. */
export function createClusterClient(options: MastersOptions): RedisClient {
  const { topology } = options;
  const masters = new Masters(options);
  const events: ClientEvents = new EventEmitter();
  const texts = new TextSubscriptions(masters);
  const routed = routerOf(masters, options);
  const cluster: ClusterConnections = {
    get names() {
      return masters.names;
    },
    ownerOf: (key) => topology.ownerOf(slotOf(key)),
    client: (name) => masters.client(name),
    refresh: () => topology.refresh(),
  };
  masters.events.on('up', () => {
    texts.converge();
    events.emit('ready');
  });
  masters.events.on('lost', () => texts.converge());
  masters.events.on('error', (error) => events.emit('error', error));
  return {
    cluster,
    get isOpen() {
      return masters.isOpen;
    },
    get isReady() {
      return masters.ready.length > 0;
    },
    get problem() {
      return topology.problem;
    },
    connect: () => connectAll(masters, options),
    close: () => masters.close(),
    destroy: () => masters.destroy(),
    on: (event: 'error', listener: (error: Error) => void) => events.on(event, listener),
    off: (event: 'error', listener: () => void) => events.off(event, listener),
    ...commandsOf(masters, routed),
    ...shardedOf(masters, { topology, routed, events }),
    subscribe: (channel, listener) => texts.add(channel, listener),
    unsubscribe: (channel, listener) => texts.remove(channel, listener),
  };
}

type ClientEvents = EventEmitter<Record<Exclude<ConnectionEvent, 'error'>, []> & { error: [Error] }>;
type Routed = <T>(key: string, command: (client: PlainClient) => Promise<T>) => Promise<T>;

function routerOf(masters: Masters, { topology, clock }: MastersOptions): Routed {
  return (key, command) =>
    runRouted(
      {
        client: () => masters.client(topology.ownerOf(slotOf(key))),
        at: (name) => masters.client(name),
        refresh: () => topology.refresh(),
        pause: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
      },
      command,
    );
}

function commandsOf(masters: Masters, routed: Routed) {
  const anywhere = <T>(command: (client: PlainClient) => Promise<T>): Promise<T> => {
    const [first] = masters.ready;
    return first === undefined ? Promise.reject(new Error('not connected to any master')) : command(first);
  };
  return {
    sendCommand: (args) => anywhere((client) => client.sendCommand(args)),
    info: (section) => anywhere((client) => client.info(section)),
    configGet: (parameter) => anywhere((client) => client.configGet(parameter)),
    eval: (source, call) => routed(call.keys[0] ?? '', (client) => client.eval(source, whole(call))),
    evalSha: (sha, call) => routed(call.keys[0] ?? '', (client) => client.evalSha(sha, whole(call))),
    scriptLoad: (source) => Promise.all(masters.ready.map((client) => client.scriptLoad(source))),
    set: (key, value, settings) => routed(key, (client) => client.set(key, value, settings)),
    sPublish: (channel, payload) => routed(channel, (client) => client.sPublish(channel, payload)),
    pubSubShardNumSub: ([channel = '']) => routed(channel, (client) => client.pubSubShardNumSub([channel])),
    pubSubShardChannels: async (pattern) =>
      (await Promise.all(masters.ready.map((client) => client.pubSubShardChannels(pattern)))).flat(),
  } satisfies Partial<RedisClient>;
}

/**
 * With one more key, last, which never exists. Scripts use keys that they learn while they run, in the slot of those that
 * are declared. While a slot is moved, such a key may be at the other master: the script would fail halfway, and what it has
 * written would stay. A key that is missing makes Redis refuse the script with TRYAGAIN before it begins.
 */
function whole({ keys, arguments: args }: ScriptCall): ScriptCall {
  const [first = ''] = keys;
  // A script of one key uses no others, and Redis can redirect it at any time.
  const movesApart = keys.length > 1 && tagOf(first) !== undefined;
  return { keys: movesApart ? [...keys, `${first}:absent`] : keys, arguments: args };
}

interface ShardedParts {
  readonly topology: Topology;
  readonly routed: Routed;
  readonly events: ClientEvents;
}

/** A subscription ends with its connection, and when its slot moves: `lost` tells, and whoever wants it subscribes again. */
function shardedOf(masters: Masters, { topology, routed, events }: ShardedParts) {
  const subscribed = new Map<string, PlainClient>();
  const isThere = (channel: string, client: PlainClient): boolean =>
    client.isReady && masters.client(topology.ownerOf(slotOf(channel))) === client;
  const look = (): void => {
    for (const [channel, client] of subscribed) if (!isThere(channel, client)) subscribed.delete(channel);
    if (masters.ready.length > 0) events.emit('lost');
  };
  masters.events.on('moved', look);
  masters.events.on('lost', look);
  masters.events.on('unsubscribed', (channel) => {
    subscribed.delete(channel);
    topology.refresh();
    events.emit('lost');
  });
  return {
    sSubscribe: (channel, listener, buffers) =>
      routed(channel, async (client) => {
        await client.sSubscribe(channel, listener, buffers);
        subscribed.set(channel, client);
      }),
    async sUnsubscribe(channel) {
      const client = subscribed.get(channel);
      subscribed.delete(channel);
      if (client?.isReady) await client.sUnsubscribe(channel);
    },
    isSubscribed: (channel) => subscribed.has(channel),
    getPubSubListeners: () => new Map<string, unknown>(),
  } satisfies Partial<RedisClient>;
}

/** @throws Error when it is closed before all masters are connected. */
function connectAll(masters: Masters, { topology, clock }: MastersOptions): Promise<void> {
  masters.open();
  let problem: string | undefined;
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (!masters.isOpen) {
        reject(new Error('closed before it was connected'));
        return;
      }
      const missing = masters.names.filter((name) => masters.client(name) === undefined);
      if (masters.names.length > 0 && missing.length === 0) {
        resolve();
        return;
      }
      const now = topology.problem ?? `no connection to ${missing.join(', ')}`;
      // Told once, so that it does not hide why a connection fails.
      if (now !== problem) masters.events.emit('error', new Error(now));
      problem = now;
      clock.after(20, look);
    };
    look();
  });
}
