import { type Chance, systemChance } from '../../support/chance.ts';
import { type Clock, systemClock } from '../../support/clock.ts';
import { withDeadline } from '../../support/deadline.ts';
import { type AdapterClient, createAdapterClient } from './adapter-client.ts';
import { Arrivals, type EventListener } from './arrivals.ts';
import { Calls } from './calls.ts';
import { open, seal } from './envelope.ts';
import { Publications, type PublishingClient } from './publications.ts';
import { type ChannelListener, type SubscribingClient, Subscriptions } from './subscriptions.ts';

export interface BusOptions {
  channelPrefix: string;
  nodeId: string;
  /** Makes the error of what Redis, or another node, has not answered in time. */
  unavailable: () => Error;
  deadlineMs?: number;
  /** Milliseconds since 1970 by the clock of Redis, where it is known: all nodes judge the age of a message by it. */
  storeTime: () => number | undefined;
  /** How long a subscription is kept after it is no longer wanted: a page that is reloaded wants it back at once. */
  lingerMs?: number;
  /** Whether a subscription may be kept so: not where the number of subscribers is counted. */
  lingers?: (channel: string) => boolean;
  /** Faults that no caller sees: a listener threw, Redis refused a subscription. */
  warn?: (message: string, error: unknown) => void;
  clock?: Pick<Clock, 'monotonic' | 'after' | 'nextTurn'>;
  chance?: Chance;
}

export interface BusStats {
  published: number;
  /** Messages that were not written to Redis, or that it never acknowledged. */
  dropped: number;
  /** Messages that arrived later than their sender waits: it has been told that they were not delivered. */
  stale: number;
  /** Channels that are subscribed or about to be, lingering ones included. */
  channels: number;
  live: number;
  /** How often the subscribing connection was lost: each time messages may have been missed. */
  losses: number;
}

/**
 * The publish/subscribe layer between the Socket.IO adapter and node-redis. Laws:
 * - publishing never rejects and never waits: local delivery must not depend on Redis;
 * - operations on one channel never overlap, and end in the state that was wanted last;
 * - `live` resolves only when Redis has acknowledged the subscription on the current connection;
 * - what was sent to a channel of the adapter longer ago than a sender waits is not delivered.
 */
export interface Bus {
  readonly pub: AdapterClient;
  readonly sub: AdapterClient;
  /** Whether a publish in the channel would be written to Redis now. */
  isUp(channel: string): boolean;
  /** Whether Redis has refused to subscribe a channel, or to unsubscribe it, and not done so since. */
  readonly refused: boolean;
  /** Ends the waits after refusals: Redis is known to accept subscriptions again. */
  retry(): void;
  /** Resolves once messages of the channel reach this node; rejects with `unavailable()` after the deadline. */
  live(channel: string): Promise<void>;
  /**
   * Sends an event to the nodes that are subscribed to a channel of the adapter, this one included. Resolves with the number
   * of connections that it was written to, as those nodes say: 0 as soon as all have said so, undefined when there are none.
   *
   * @throws `unavailable()` when no node has said so in time.
   */
  deliver(channel: string, event: string): Promise<number | undefined>;
  /**
   * Sends an event to the other nodes that are subscribed to a channel of the adapter.
   *
   * @throws `unavailable()` when Redis has not published it so early that they do not find it stale.
   */
  broadcast(channel: string, event: string): Promise<void>;
  /** At most one listener. An event that nobody listens to was not delivered. */
  onEvent(listener: EventListener): void;
  /** To one node. It arrives however late: what nodes say of sessions stays true. */
  send(nodeId: string, text: string): void;
  /** The same; resolves with the number of subscribers. */
  countReceivers(nodeId: string, text: string): Promise<number>;
  /** Messages to this node. At most one listener. Returns a function that removes it. */
  onMessage(listener: (text: string) => void): () => void;
  /** To all nodes. */
  announce(text: string): void;
  /** Messages to all nodes, those of this one included. At most one listener. */
  onAnnouncement(listener: (text: string) => void): void;
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

/** The inverse of `redisChannel`. */
export function socketRoomIn(channelPrefix: string, channel: string): string {
  return channel.slice(channelPrefix.length + '#/#'.length, -1);
}

/**
 * The age at which a message is stale, as a part of the deadline. Below it, so that what is delivered is also acknowledged
 * in time: a message that was refused, and is repeated, must not be received twice.
 */
const STALE_AT = 0.8;
const staleMsOf = (deadlineMs: number): number => deadlineMs * STALE_AT;
const DEADLINE_MS = 1_500;

export function createBus(pub: PublishingClient, sub: SubscribingClient, options: BusOptions): Bus {
  const { publications, subscriptions, calls, arrivals, inbox } = createParts(pub, sub, options);
  const { nodeId, storeTime, unavailable, deadlineMs = DEADLINE_MS, warn = () => undefined } = options;
  const client = createAdapterClient({ publications, subscriptions, arrivals, storeTime });
  const receive = (listener: (text: string) => void): ChannelListener => {
    return (message) => {
      const text = open(message)?.payload.toString();
      if (text === undefined) warn('dropped a message that is not of a node', undefined);
      else if (!calls.receive(text)) listener(text);
    };
  };
  return {
    pub: client,
    sub: client,
    isUp: (channel) => publications.isUp(channel),
    get refused() {
      return subscriptions.refused;
    },
    retry: () => subscriptions.retry(),
    live: (channel) => subscriptions.live(channel),
    deliver: (channel, event) => calls.send(channel, event),
    broadcast: async (channel, event) => {
      const published = publications.count(channel, seal(event, storeTime(), { from: nodeId, number: 0 }));
      await withDeadline(published, staleMsOf(deadlineMs), unavailable);
    },
    onEvent: (listener) => arrivals.listen(listener),
    send: (to, text) => publications.publish(inbox(to), seal(text, storeTime())),
    countReceivers: (to, text) =>
      withDeadline(publications.count(inbox(to), seal(text, storeTime())), deadlineMs, unavailable),
    onMessage: (listener) => {
      const received = receive(listener);
      subscriptions.want(inbox(nodeId), received);
      return () => subscriptions.unwant(inbox(nodeId), received);
    },
    announce: (text) => publications.publish(announcements(options), seal(text, storeTime())),
    onAnnouncement: (listener) => subscriptions.want(announcements(options), receive(listener)),
    inbox,
    stats: () => ({ ...publications.stats(), ...subscriptions.stats(), stale: arrivals.stale }),
    close: () => {
      publications.close();
      subscriptions.close();
      return Promise.resolve();
    },
  };
}

const announcements = ({ channelPrefix }: BusOptions): string => `${channelPrefix}nodes`;

function createParts(pub: PublishingClient, sub: SubscribingClient, options: BusOptions) {
  const { deadlineMs = DEADLINE_MS, lingerMs = 5_000, unavailable, warn = () => undefined } = options;
  const { channelPrefix, nodeId, storeTime, clock = systemClock, chance = systemChance } = options;
  const inbox = (id: string): string => `${channelPrefix}node:${id}`;
  // The channels of nodes do not linger: the subscribers are the nodes that are connected.
  const lingers = (channel: string): boolean => !channel.startsWith(inbox('')) && (options.lingers?.(channel) ?? true);
  const publications = new Publications(pub, { deadlineMs, unavailable, clock });
  const calls = new Calls({
    nodeId,
    firstNumber: 1 + Math.floor(chance.fraction() * 2 ** 40),
    acknowledge: (to, text) => publications.publish(inbox(to), seal(text, storeTime())),
    publish: (channel, payload) => publications.count(channel, payload),
    storeTime,
    deadlineMs,
    unavailable,
    clock,
  });
  const arrivals = new Arrivals({ nodeId, calls, storeTime, staleMs: staleMsOf(deadlineMs) });
  const unwanted = arrivals.receiver(() => {});
  const subscriptions = new Subscriptions(sub, { deadlineMs, lingerMs, lingers, unwanted, unavailable, warn, clock });
  return { publications, subscriptions, calls, arrivals, inbox };
}
