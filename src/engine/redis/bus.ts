import { withDeadline } from '../../support/deadline.ts';
import { type ChannelListener, type SubscribingClient, Subscriptions } from './subscriptions.ts';

export interface PublishingClient {
  readonly isReady: boolean;
  sPublish(channel: string, payload: string | Buffer): Promise<number>;
  sendCommand(args: string[]): Promise<unknown>;
}

export interface BusOptions {
  channelPrefix: string;
  /** Makes the error of `live` and `receivers` when Redis did not answer in time. */
  unavailable: () => Error;
  deadlineMs?: number;
  /** How long an unwanted subscription is kept, because a page refresh wants it back at once. */
  lingerMs?: number;
  /** Channels whose number of subscribers has a meaning must not linger. */
  lingers?: (channel: string) => boolean;
  /** A fault that no caller sees: a listener threw, Redis refuses a subscription. */
  warn?: (message: string, error: unknown) => void;
}

export interface BusStats {
  published: number;
  /** Messages not handed to Redis, or handed over and never answered for. */
  dropped: number;
  /** Channels somebody wants, or that linger. */
  channels: number;
  live: number;
  /** How often the subscribing connection was lost: every loss may have cost messages. */
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
 * Stands between the Socket.IO adapter and node-redis. Laws:
 * - publishing never rejects and never waits: local delivery must not depend on Redis;
 * - operations on one channel never overlap, and end in the state that was wanted last;
 * - `live` resolves only when Redis has acknowledged the subscription on the connection of now.
 */
export interface Bus {
  readonly pub: AdapterClient;
  readonly sub: AdapterClient;
  /** Whether a publish of now would be handed to Redis. */
  readonly up: boolean;
  /** Resolves when messages of the channel reach this node; rejects with `unavailable()` after the deadline. */
  live(channel: string): Promise<void>;
  /**
   * How many subscribers the publish inside `send` found. `send` publishes at most once, synchronously: `tell`, or an
   * emit to one Socket.IO room. 0 when it published nothing, rejects when it was dropped or the answer stays unknown.
   */
  receivers(send: () => void): Promise<number>;
  tell(nodeId: string, text: string): void;
  /** One listener for each node; answers with a function that ends it. */
  listen(nodeId: string, listener: (text: string) => void): () => void;
  /** The channel of `tell` and `listen`, for `live`. */
  inbox(nodeId: string): string;
  stats(): BusStats;
  /** The clients stay open: they belong to whoever made them. */
  close(): Promise<void>;
}

/** The channel in which the adapter sends what is emitted to one room of the namespace `/`. */
export function roomChannel(channelPrefix: string, room: string): string {
  return `${channelPrefix}#/#${room}#`;
}

export function createBus(pub: PublishingClient, sub: SubscribingClient, options: BusOptions): Bus {
  const { deadlineMs = 1_500, lingerMs = 5_000, unavailable, warn = () => undefined } = options;
  const inboxPrefix = `${options.channelPrefix}node:`;
  // Whoever tells something to a node that has gone must learn it.
  const lingers = (channel: string): boolean =>
    !channel.startsWith(inboxPrefix) && (options.lingers?.(channel) ?? true);
  const publications = new Publications(pub, deadlineMs, unavailable);
  const subscriptions = new Subscriptions(sub, { deadlineMs, lingerMs, lingers, unavailable, warn });
  const client = adapterClient(publications, subscriptions);
  const inbox = (nodeId: string): string => inboxPrefix + nodeId;
  return {
    pub: client,
    sub: client,
    get up() {
      return publications.up;
    },
    live: (channel) => subscriptions.live(channel),
    receivers: (send) => publications.receivers(send),
    tell: (nodeId, text) => publications.publish(inbox(nodeId), text),
    listen: (nodeId, listener) => {
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

/** One object for both of the adapter's clients: it looks for `sSubscribe` on the publishing one to know node-redis. */
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

interface Capture {
  /** Subscribers that the publish found. */
  reply: Promise<number>;
}

class Publications {
  readonly #client: PublishingClient;
  readonly #deadlineMs: number;
  readonly #unavailable: () => Error;
  #capture: Capture | undefined;
  #published = 0;
  #dropped = 0;
  #unanswered = 0;
  #lastAnswer = 0;
  #closed = false;

  constructor(client: PublishingClient, deadlineMs: number, unavailable: () => Error) {
    this.#client = client;
    this.#deadlineMs = deadlineMs;
    this.#unavailable = unavailable;
  }

  /** A frozen Redis stays connected and would deliver, when it thaws, whatever was written meanwhile: stale by then. */
  get up(): boolean {
    const stalled = this.#unanswered > 0 && performance.now() - this.#lastAnswer > this.#deadlineMs;
    return this.#client.isReady && !stalled && !this.#closed;
  }

  publish(channel: string, payload: string | Buffer): void {
    const capture = this.#capture;
    this.#capture = undefined; // one publish for each capture: a second one has an answer of its own
    if (!this.up) {
      this.#dropped += 1;
      if (capture !== undefined) capture.reply = Promise.reject(this.#unavailable());
      return;
    }
    if (this.#unanswered === 0) this.#lastAnswer = performance.now();
    this.#unanswered += 1;
    this.#published += 1;
    const reply = this.#client.sPublish(channel, payload);
    if (capture !== undefined) capture.reply = reply;
    reply.then(this.#answered, this.#lost);
  }

  async receivers(send: () => void): Promise<number> {
    const outer = this.#capture;
    const capture: Capture = { reply: Promise.resolve(0) };
    this.#capture = capture;
    try {
      send();
    } finally {
      this.#capture = outer;
    }
    const known = capture.reply.catch(() => Promise.reject(this.#unavailable()));
    return withDeadline(known, this.#deadlineMs, this.#unavailable);
  }

  ask(args: string[]): Promise<unknown> {
    return withDeadline(this.#client.sendCommand(args), this.#deadlineMs, this.#unavailable);
  }

  stats(): { published: number; dropped: number } {
    return { published: this.#published, dropped: this.#dropped };
  }

  close(): void {
    this.#closed = true;
  }

  readonly #answered = (): void => {
    this.#unanswered -= 1;
    this.#lastAnswer = performance.now();
  };

  readonly #lost = (): void => {
    this.#unanswered -= 1;
    this.#dropped += 1;
    this.#lastAnswer = performance.now();
  };
}
