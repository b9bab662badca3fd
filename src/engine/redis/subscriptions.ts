import { ErrorReply } from 'redis';
import { backoffMs } from '../../support/backoff.ts';
import type { Clock, Stop } from '../../support/clock.ts';
import { withDeadline } from '../../support/deadline.ts';

/** Waits after refused subscriptions. */
const RETRY = { firstMs: 100, maxMs: 5_000 };

export type ChannelListener = (message: Buffer, channel: Buffer) => void;

/** The methods of a node-redis client that subscriptions need. */
export interface SubscribingClient {
  readonly isReady: boolean;
  sSubscribe(channel: string, listener: ChannelListener, buffers: true): Promise<void>;
  sUnsubscribe(channel: string): Promise<void>;
  getPubSubListeners(type: 'SHARDED'): Map<string, unknown>;
  /** Of a Cluster, where subscriptions are lost one by one. */
  isSubscribed?(channel: string): boolean;
  on(event: ClientEvent, listener: () => void): unknown;
  off(event: ClientEvent, listener: () => void): unknown;
}

type ClientEvent = 'ready' | 'reconnecting' | 'end' | 'error' | 'lost';

export interface SubscriptionOptions {
  deadlineMs: number;
  lingerMs: number;
  lingers: (channel: string) => boolean;
  /** Receives what still arrives in a channel that is not wanted: its sender may wait for an answer. */
  unwanted: ChannelListener;
  unavailable: () => Error;
  warn: (message: string, error: unknown) => void;
  clock: Pick<Clock, 'after'>;
}

interface Waiter {
  resolve: () => void;
  reject: (error: Error) => void;
}

interface Channel {
  readonly name: string;
  /** Undefined when the channel is not wanted. */
  listener: ChannelListener | undefined;
  /** Redis has acknowledged the subscription on the current connection. */
  acknowledged: boolean;
  /** An operation is under way: nothing more is sent for this channel until Redis has answered. */
  busy: boolean;
  /** Stops the timer that ends the lingering. */
  lingering: Stop | undefined;
  /** Stops the timer of the next attempt, after Redis has refused one. */
  pause: Stop | undefined;
  refusals: number;
  readonly waiters: Set<Waiter>;
  readonly receive: ChannelListener;
}

/**
 * Brings each channel to the state that was wanted last, one operation at a time.
 *
 * After a reconnect node-redis subscribes again by itself, before it is ready, and stops writing at the first full socket
 * buffer (16 KB, about 300 channels): it then waits for ever for replies to commands that it never wrote, and never becomes
 * ready. So its list of channels is cleared, and the channels are subscribed from here once it is ready.
 */
export class Subscriptions {
  readonly #client: SubscribingClient;
  readonly #options: SubscriptionOptions;
  readonly #channels = new Map<string, Channel>();
  /** Those whose last operation Redis has refused. */
  readonly #refused = new Set<Channel>();
  #losses = 0;
  #connected: boolean;
  #closed = false;

  constructor(client: SubscribingClient, options: SubscriptionOptions) {
    this.#client = client;
    this.#options = options;
    this.#connected = client.isReady;
    client.on('ready', this.#onReady);
    client.on('lost', this.#onPartlyLost);
    for (const event of ['reconnecting', 'end', 'error'] as const) client.on(event, this.#onLoss);
  }

  want(name: string, listener: ChannelListener): void {
    if (this.#closed) return;
    const channel = this.#channel(name);
    channel.listener = listener;
    stopLingering(channel);
    this.#converge(channel);
  }

  /** With a listener: only when the channel still has that one. */
  unwant(name: string, listener?: ChannelListener): void {
    const channel = this.#channels.get(name);
    if (channel?.listener === undefined || (listener !== undefined && channel.listener !== listener)) return;
    channel.listener = undefined;
    if (channel.acknowledged && this.#options.lingers(name)) {
      channel.lingering = this.#options.clock.after(this.#options.lingerMs, () => {
        channel.lingering = undefined;
        this.#converge(channel);
      });
    }
    this.#converge(channel);
  }

  live(name: string): Promise<void> {
    if (this.#closed) return Promise.reject(this.#options.unavailable());
    const channel = this.#channel(name);
    if (isLive(channel)) return Promise.resolve();
    const waiter: Waiter = { resolve: () => undefined, reject: () => undefined };
    const acknowledged = new Promise<void>((resolve, reject) => {
      waiter.resolve = resolve;
      waiter.reject = reject;
      channel.waiters.add(waiter);
    });
    return withDeadline(acknowledged, this.#options.deadlineMs, this.#options.unavailable).finally(() => {
      channel.waiters.delete(waiter);
      this.#forgetIdle(channel);
    });
  }

  /** Whether Redis has refused to subscribe a channel, or to unsubscribe it, and not done so since. */
  get refused(): boolean {
    return this.#refused.size > 0;
  }

  /** Ends the waits after refusals: Redis is known to accept subscriptions again. */
  retry(): void {
    for (const channel of this.#refused) this.#endPause(channel);
  }

  stats(): { channels: number; live: number; losses: number } {
    let live = 0;
    for (const channel of this.#channels.values()) if (isLive(channel)) live += 1;
    return { channels: this.#channels.size, live, losses: this.#losses };
  }

  close(): void {
    this.#closed = true;
    this.#client.off('ready', this.#onReady);
    this.#client.off('lost', this.#onPartlyLost);
    for (const event of ['reconnecting', 'end', 'error'] as const) this.#client.off(event, this.#onLoss);
    for (const channel of this.#channels.values()) {
      channel.listener = undefined;
      stopLingering(channel);
      channel.pause?.();
      this.#refused.delete(channel);
      for (const waiter of channel.waiters) waiter.reject(this.#options.unavailable());
    }
    this.#channels.clear();
  }

  readonly #onReady = (): void => {
    this.#connected = true;
    for (const channel of this.#channels.values()) this.#endPause(channel);
  };

  /** Called before node-redis connects again, and each time it fails to: no acknowledgement is valid any more. */
  readonly #onLoss = (): void => {
    if (this.#client.isReady) return; // an `error` that did not end the connection
    if (this.#connected) this.#losses += 1;
    this.#connected = false;
    this.#client.getPubSubListeners('SHARDED').clear();
    for (const channel of this.#channels.values()) {
      channel.acknowledged = false;
      stopLingering(channel);
      this.#forgetIdle(channel);
    }
  };

  /** One of several masters, or a slot, is elsewhere now: the channels there are subscribed anew. */
  readonly #onPartlyLost = (): void => {
    this.#losses += 1;
    for (const channel of this.#channels.values()) {
      if (channel.busy || !channel.acknowledged || this.#client.isSubscribed?.(channel.name)) continue;
      channel.acknowledged = false;
      stopLingering(channel);
      this.#converge(channel);
    }
  };

  #channel(name: string): Channel {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const channel: Channel = {
      name,
      listener: undefined,
      acknowledged: false,
      busy: false,
      lingering: undefined,
      pause: undefined,
      refusals: 0,
      waiters: new Set(),
      receive: (message, from) => this.#deliver(channel, message, from),
    };
    this.#channels.set(name, channel);
    return channel;
  }

  #converge(channel: Channel): void {
    if (isLive(channel)) for (const waiter of channel.waiters) waiter.resolve();
    if (this.#closed || channel.busy || channel.pause !== undefined || !this.#client.isReady) return;
    const needed = channel.listener !== undefined || channel.lingering !== undefined;
    if (needed === channel.acknowledged) {
      this.#forgetIdle(channel);
      return;
    }
    channel.busy = true;
    void this.#operate(channel, needed);
  }

  /** Never rejects. node-redis writes all commands of one turn together. */
  async #operate(channel: Channel, subscribe: boolean): Promise<void> {
    // The old acknowledgement is not valid from here on: `live` must wait for a new one.
    channel.acknowledged = false;
    try {
      if (subscribe) await this.#client.sSubscribe(channel.name, channel.receive, true);
      else await this.#client.sUnsubscribe(channel.name);
      // On a Cluster it may have been lost again before its acknowledgement was read.
      channel.acknowledged = subscribe && this.#client.isSubscribed?.(channel.name) !== false;
      channel.refusals = 0;
      this.#refused.delete(channel);
    } catch (error) {
      // A refused unsubscription leaves the channel subscribed, on the same connection.
      channel.acknowledged = !subscribe && this.#client.isReady;
      // Without a connection there is nothing to retry: every channel converges at `ready`.
      if (this.#client.isReady) this.#pauseAfterRefusal(channel, error);
    }
    channel.busy = false;
    this.#converge(channel);
  }

  #pauseAfterRefusal(channel: Channel, error: unknown): void {
    if (this.#closed) return;
    if (channel.refusals === 0 && error instanceof ErrorReply)
      this.#options.warn(`Redis refuses the subscription of ${channel.name}`, error);
    const ms = backoffMs(channel.refusals, RETRY);
    channel.refusals += 1;
    this.#refused.add(channel);
    channel.pause = this.#options.clock.after(ms, () => this.#endPause(channel));
  }

  #endPause(channel: Channel): void {
    channel.pause?.();
    channel.pause = undefined;
    this.#converge(channel);
  }

  /** An exception in node-redis' decoder would lose the rest of the data that was read. */
  #deliver(channel: Channel, message: Buffer, from: Buffer): void {
    try {
      (channel.listener ?? this.#options.unwanted)(message, from);
    } catch (error) {
      this.#options.warn(`the listener of ${channel.name} threw`, error);
    }
  }

  #forgetIdle(channel: Channel): void {
    const idle = channel.listener === undefined && !channel.acknowledged && !channel.busy;
    if (!idle || channel.waiters.size > 0) return;
    channel.pause?.();
    this.#refused.delete(channel);
    this.#channels.delete(channel.name);
  }
}

function stopLingering(channel: Channel): void {
  channel.lingering?.();
  channel.lingering = undefined;
}

function isLive(channel: Channel): boolean {
  return channel.listener !== undefined && channel.acknowledged;
}
