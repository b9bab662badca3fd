/** Serves as both clients of the Socket.IO adapter, which recognises node-redis by `sSubscribe` on the publishing one. */
import type { Arrivals } from './arrivals.ts';
import { seal } from './envelope.ts';
import type { Publications } from './publications.ts';
import type { ChannelListener, Subscriptions } from './subscriptions.ts';

/** The methods of a node-redis client that `createShardedAdapter` calls. */
export interface AdapterClient {
  sSubscribe(channel: string, listener: ChannelListener): Promise<void>;
  sUnsubscribe(channels: string | readonly string[]): Promise<void>;
  sPublish(channel: string, payload: string | Buffer): Promise<number>;
  sendCommand(args: string[]): Promise<unknown>;
}

export interface AdapterClientParts {
  readonly publications: Publications;
  readonly subscriptions: Subscriptions;
  readonly arrivals: Arrivals;
  readonly storeTime: () => number | undefined;
}

export function createAdapterClient(parts: AdapterClientParts): AdapterClient {
  const { publications, subscriptions, arrivals, storeTime } = parts;
  const done = Promise.resolve();
  const nobody = Promise.resolve(0);
  return {
    sSubscribe: (channel, listener) => {
      subscriptions.want(channel, arrivals.receiver(listener));
      return done;
    },
    sUnsubscribe: (channels) => {
      for (const channel of typeof channels === 'string' ? [channels] : channels) subscriptions.unwant(channel);
      return done;
    },
    sPublish: (channel, payload) => {
      publications.publish(channel, seal(payload, storeTime()));
      return nobody; // at once: the adapter awaits this before it delivers to the clients of this node
    },
    sendCommand: (args) => publications.ask(args),
  };
}
