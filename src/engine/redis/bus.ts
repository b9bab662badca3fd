import { type Clock, systemClock } from '../../support/clock.ts';
import { Publications, type PublishingClient } from './publications.ts';
import { type ChannelListener, type SubscribingClient, Subscriptions } from './subscriptions.ts';

export interface BusOptions {
  channelPrefix: string;
  /** Makes the error of `live` and `countReceivers` when Redis has not answered in time. */
  unavailable: () => Error;
  deadlineMs?: number;
  /** How long a subscription is kept after it is no longer wanted: a page that is reloaded wants it back at once. */
  lingerMs?: number;
  /** Whether a subscription may be kept so: not where the number of subscribers is counted. */
  lingers?: (channel: string) => boolean;
  /** Faults that no caller sees: a listener threw, Redis refused a subscription. */
  warn?: (message: string, error: unknown) => void;
  clock?: Pick<Clock, 'monotonic' | 'after'>;
}

export interface BusStats {
  published: number;
  /** Messages that were not written to Redis, or that it never acknowledged. */
  dropped: number;
  /** Channels that are subscribed or about to be, lingering ones included. */
  channels: number;
  live: number;
  /** How often the subscribing connection was lost: each time messages may have been missed. */
  losses: number;
}

/** The methods of a node-redis client that `createShardedAdapter` calls. */
export interface AdapterClient {
  sSubscribe(channel: string, listener: ChannelListener): Promise<void>;
  sUnsubscribe(channels: string | readonly string[]): Promise<void>;
  sPublish(channel: string, payload: string | Buffer): Promise<number>;
  sendCommand(args: string[]): Promise<unknown>;
}

/**
 * The publish/subscribe layer between the Socket.IO adapter and node-redis. Laws:
 * - publishing never rejects and never waits: local delivery must not depend on Redis;
 * - operations on one channel never overlap, and end in the state that was wanted last;
 * - `live` resolves only when Redis has acknowledged the subscription on the current connection.
 */
export interface Bus {
  readonly pub: AdapterClient;
  readonly sub: AdapterClient;
  /** Whether a publish would be written to Redis now. */
  readonly up: boolean;
  /** Whether Redis has refused to subscribe a channel, or to unsubscribe it, and not done so since. */
  readonly refused: boolean;
  /** Ends the waits after refusals: Redis is known to accept subscriptions again. */
  retry(): void;
  /** Resolves once messages of the channel reach this node; rejects with `unavailable()` after the deadline. */
  live(channel: string): Promise<void>;
  /**
   * The number of subscribers that the publish inside `send` reached. `send` publishes at most once, synchronously, by a
   * `send` of the bus or an emit to one Socket.IO room. 0 when it published nothing; rejects when the publish was dropped
   * or is not acknowledged in time.
   */
  countReceivers(send: () => void): Promise<number>;
  send(nodeId: string, text: string): void;
  /** At most one listener for each node. Returns a function that removes it. */
  onMessage(nodeId: string, listener: (text: string) => void): () => void;
  /** The channel of a node's messages, for `live`. */
  inbox(nodeId: string): string;
  stats(): BusStats;
  /** Does not close the clients. */
  close(): Promise<void>;
}

/** The Redis channel in which the adapter publishes what is emitted to one Socket.IO room of the namespace `/`. */
export function redisChannel(channelPrefix: string, room: string): string {
  return `${channelPrefix}#/#${room}#`;
}

export function createBus(pub: PublishingClient, sub: SubscribingClient, options: BusOptions): Bus {
  const { deadlineMs = 1_500, lingerMs = 5_000, unavailable, warn = () => undefined, clock = systemClock } = options;
  const inboxPrefix = `${options.channelPrefix}node:`;
  // The channels of nodes do not linger: the subscribers are the nodes that are connected.
  const lingers = (channel: string): boolean =>
    !channel.startsWith(inboxPrefix) && (options.lingers?.(channel) ?? true);
  const publications = new Publications(pub, { deadlineMs, unavailable, clock });
  const subscriptions = new Subscriptions(sub, { deadlineMs, lingerMs, lingers, unavailable, warn, clock });
  const client = adapterClient(publications, subscriptions);
  const inbox = (nodeId: string): string => inboxPrefix + nodeId;
  return {
    pub: client,
    sub: client,
    get up() {
      return publications.up;
    },
    get refused() {
      return subscriptions.refused;
    },
    retry: () => subscriptions.retry(),
    live: (channel) => subscriptions.live(channel),
    countReceivers: (send) => publications.countReceivers(send),
    send: (nodeId, text) => publications.publish(inbox(nodeId), text),
    onMessage: (nodeId, listener) => {
      const receive: ChannelListener = (message) => listener(message.toString());
      subscriptions.want(inbox(nodeId), receive);
      return () => subscriptions.unwant(inbox(nodeId), receive);
    },
    inbox,
    stats: () => ({ ...publications.stats(), ...subscriptions.stats() }),
    close: () => {
      publications.close();
      subscriptions.close();
      return Promise.resolve();
    },
  };
}

/** Serves as both clients of the adapter, which recognises node-redis by `sSubscribe` on the publishing one. */
function adapterClient(publications: Publications, subscriptions: Subscriptions): AdapterClient {
  const done = Promise.resolve();
  const nobody = Promise.resolve(0);
  return {
    sSubscribe: (channel, listener) => {
      subscriptions.want(channel, listener);
      return done;
    },
    sUnsubscribe: (channels) => {
      for (const channel of typeof channels === 'string' ? [channels] : channels) subscriptions.unwant(channel);
      return done;
    },
    sPublish: (channel, payload) => {
      publications.publish(channel, payload);
      return nobody; // at once: the adapter awaits this before it delivers to the clients of this node
    },
    sendCommand: (args) => publications.ask(args),
  };
}
