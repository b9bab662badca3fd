/**
 * A client that follows the primary of sentinels. Not node-redis' own client for sentinels: it holds commands back while
 * there is no primary and runs them after the failover, long after their deadline, and it repeats a command whose reply was
 * lost, so commands would take effect late or twice.
 */
import type { PlainClient, RedisClient, TextListener } from './client.ts';
import { FollowingConnection, type FollowingOptions } from './following-connection.ts';
import type { Sentinels } from './sentinel/sentinels.ts';

/** Its commands are refused at once while it is not connected. Subscriptions of shards end with the connection. */
export function createFollowingClient(
  options: Omit<FollowingOptions, 'prepare'> & { readonly sentinels: Sentinels },
): RedisClient {
  const subscribed = new Map<string, Set<TextListener>>();
  let prepared: PlainClient | undefined;
  const prepare = (client: PlainClient): Promise<unknown> => {
    prepared = client; // from here on, new subscriptions are added to it
    return Promise.all(
      [...subscribed].flatMap(([channel, all]) => [...all].map((it) => client.subscribe(channel, it))),
    );
  };
  const subscriber = (): PlainClient | undefined => (prepared?.isReady ? prepared : undefined);
  const connection = new FollowingConnection({ ...options, prepare });
  const run = <T>(command: (client: PlainClient) => Promise<T>): Promise<T> =>
    connection.client ? command(connection.client) : Promise.reject(new Error('not connected to the primary'));
  return {
    get isOpen() {
      return connection.isOpen;
    },
    get isReady() {
      return connection.client !== undefined;
    },
    get problem() {
      return options.sentinels.answer ? undefined : 'no sentinel answers';
    },
    connect: () => connection.open(),
    close: () => connection.close(),
    destroy: () => connection.destroy(),
    on: (event: 'error', listener: (error: Error) => void) => connection.events.on(event, listener),
    off: (event: 'error', listener: () => void) => connection.events.off(event, listener),
    ...commandsOf(run),
    async subscribe(channel, listener) {
      const listeners = subscribed.get(channel) ?? new Set();
      subscribed.set(channel, listeners.add(listener));
      await subscriber()?.subscribe(channel, listener);
    },
    async unsubscribe(channel, listener) {
      const listeners = subscribed.get(channel);
      listeners?.delete(listener);
      if (listeners?.size === 0) subscribed.delete(channel);
      await subscriber()?.unsubscribe(channel, listener);
    },
    getPubSubListeners: (type) => connection.client?.getPubSubListeners(type) ?? new Map<string, unknown>(),
  };
}

type Run = <T>(command: (client: PlainClient) => Promise<T>) => Promise<T>;

const commandsOf = (run: Run) =>
  ({
    sendCommand: (args) => run((client) => client.sendCommand(args)),
    eval: (source, call) => run((client) => client.eval(source, call)),
    evalSha: (sha, call) => run((client) => client.evalSha(sha, call)),
    scriptLoad: (source) => run((client) => client.scriptLoad(source)),
    info: (section) => run((client) => client.info(section)),
    configGet: (parameter) => run((client) => client.configGet(parameter)),
    set: (key, value, settings) => run((client) => client.set(key, value, settings)),
    sPublish: (channel, payload) => run((client) => client.sPublish(channel, payload)),
    pubSubShardNumSub: (channels) => run((client) => client.pubSubShardNumSub(channels)),
    pubSubShardChannels: (pattern) => run((client) => client.pubSubShardChannels(pattern)),
    sSubscribe: (channel, listener, buffers) => run((client) => client.sSubscribe(channel, listener, buffers)),
    sUnsubscribe: (channel) => run((client) => client.sUnsubscribe(channel)),
  }) satisfies Partial<RedisClient>;
