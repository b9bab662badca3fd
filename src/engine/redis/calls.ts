/**
 * Messages whose sender learns how often they were delivered. The number of subscribers that Redis counts is no answer: a
 * node that is cut off stays one until Redis notices. So the receiving node acknowledges, to the inbox of the sender.
 */
import type { Clock } from '../../support/clock.ts';
import { withDeadline } from '../../support/deadline.ts';
import { type Call, seal } from './envelope.ts';

export interface CallsOptions {
  readonly nodeId: string;
  /** The number of the first call, at least 1: random, so that what is meant for an earlier process of this name finds no call. */
  readonly firstNumber: number;
  /** Publishes in the channel of a node; what it cannot publish is lost. */
  readonly acknowledge: (nodeId: string, text: string) => void;
  /** Publishes; the number of subscribers. */
  readonly publish: (channel: string, payload: string | Buffer) => Promise<number>;
  readonly storeTime: () => number | undefined;
  readonly deadlineMs: number;
  readonly unavailable: () => Error;
  readonly clock: Pick<Clock, 'nextTurn'>;
}

/** Begins an acknowledgement; other messages to a node are JSON objects. */
const MARK = '+';

/** A call that waits. */
interface Waiting {
  /** How many nodes have the message, once Redis has said so. */
  receivers: number | undefined;
  answers: number;
  readonly settle: (delivered: number) => void;
}

export class Calls {
  readonly #options: CallsOptions;
  readonly #waiting = new Map<number, Waiting>();
  /** Acknowledgements of this turn of the event loop: one message to each node. */
  readonly #acknowledgements = new Map<string, string>();
  #number: number;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#number = options.firstNumber;
  }

  /**
   * The number of deliveries, as soon as it is known not to be 0, or to be; undefined when no node is subscribed.
   *
   * @throws `unavailable()` when it is not known in time: it may have been delivered.
   */
  send(channel: string, text: string): Promise<number | undefined> {
    const { nodeId, storeTime, publish, deadlineMs, unavailable } = this.#options;
    const number = this.#number;
    this.#number += 1;
    const delivered = new Promise<number | undefined>((resolve, reject) => {
      const waiting: Waiting = { receivers: undefined, answers: 0, settle: resolve };
      this.#waiting.set(number, waiting);
      publish(channel, seal(text, storeTime(), { from: nodeId, number })).then((receivers) => {
        waiting.receivers = receivers;
        if (waiting.answers >= receivers) resolve(receivers === 0 ? undefined : 0);
      }, reject);
    });
    return withDeadline(delivered, deadlineMs, unavailable).finally(() => this.#waiting.delete(number));
  }

  /** To be called with each call that was received, whether or not it was delivered. */
  answer({ from, number }: Call, delivered: number): void {
    const known = this.#acknowledgements.get(from);
    if (this.#acknowledgements.size === 0) this.#options.clock.nextTurn(() => this.#flush());
    const entry = `${number}:${delivered}`;
    this.#acknowledgements.set(from, known === undefined ? MARK + entry : `${known},${entry}`);
  }

  /** @returns whether the message to this node was an acknowledgement. */
  receive(text: string): boolean {
    if (!text.startsWith(MARK)) return false;
    for (const entry of text.slice(MARK.length).split(',')) {
      const [number, delivered] = entry.split(':').map(Number);
      const waiting = number === undefined ? undefined : this.#waiting.get(number);
      if (waiting === undefined || delivered === undefined) continue;
      waiting.answers += 1;
      if (delivered > 0) waiting.settle(delivered);
      else if (waiting.receivers !== undefined && waiting.answers >= waiting.receivers) waiting.settle(0);
    }
    return true;
  }

  #flush(): void {
    for (const [nodeId, text] of this.#acknowledgements) this.#options.acknowledge(nodeId, text);
    this.#acknowledgements.clear();
  }
}
