/** What arrives in the channels of the Socket.IO adapter: the adapter's own messages, and events that pass it by. */
import type { Calls } from './calls.ts';
import { type Call, open } from './envelope.ts';
import type { ChannelListener } from './subscriptions.ts';

/**
 * What a node does with an event that another one has sent to a Socket.IO room.
 *
 * @param isCall whether the sender waits for the number of connections that the event was written to
 */
export type EventListener = (channel: string, event: string, isCall: boolean) => number;

export interface ArrivalsOptions {
  readonly nodeId: string;
  readonly calls: Pick<Calls, 'answer'>;
  readonly storeTime: () => number | undefined;
  /** The age from which on a message is dropped. */
  readonly staleMs: number;
}

export class Arrivals {
  /** How many were dropped for their age. */
  stale = 0;
  readonly #options: ArrivalsOptions;
  #listener: EventListener | undefined;
  /** The adapter has one listener for all of its channels. */
  readonly #receivers = new WeakMap<ChannelListener, ChannelListener>();

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  listen(listener: EventListener): void {
    this.#listener = listener;
  }

  /** Takes the envelope off what the listener of an adapter receives. */
  receiver(adapter: ChannelListener): ChannelListener {
    const known = this.#receivers.get(adapter);
    if (known !== undefined) return known;
    const receive: ChannelListener = (message, channel) => {
      const opened = open(message);
      if (opened === undefined || this.#isStale(opened.sentAt)) return;
      if (opened.call === undefined) adapter(opened.payload, channel);
      else this.#deliver(opened.call, channel.toString(), opened.payload.toString());
    };
    this.#receivers.set(adapter, receive);
    return receive;
  }

  #isStale(sentAt: number | undefined): boolean {
    const now = this.#options.storeTime();
    if (sentAt === undefined || now === undefined || now - sentAt < this.#options.staleMs) return false;
    this.stale += 1;
    return true;
  }

  #deliver(call: Call, channel: string, event: string): void {
    const { nodeId, calls } = this.#options;
    const isCall = call.number > 0;
    // This node has given it to its own clients.
    if (!isCall && call.from === nodeId) return;
    const delivered = this.#listener?.(channel, event, isCall) ?? 0;
    if (isCall) calls.answer(call, delivered);
  }
}
