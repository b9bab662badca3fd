/** The connection by which one node of a Cluster is asked how it sees the Cluster. */
import { withDeadline } from '../../support/deadline.ts';
import type { PlainClient } from '../client.ts';
import type { ServerAddress } from '../hosts-url.ts';

/** A master, and the first and last slots of its ranges. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly master: ServerAddress;
  readonly replicas: readonly ServerAddress[];
}

export interface ClusterView {
  /** The greatest that the node knows: it rises with each failover and each slot that has moved. */
  readonly epoch: number;
  readonly ranges: readonly SlotRange[];
}

/** One that takes longer is passed over. */
const ANSWER_MS = 500;

export class ClusterNode {
  readonly address: ServerAddress;
  readonly #client: PlainClient;
  #error: Error | undefined;
  /** Of the questions since the last answer. */
  misses = 0;

  constructor(address: ServerAddress, client: PlainClient) {
    this.address = address;
    this.#client = client;
    client.on('error', (error: Error) => {
      this.#error = error;
    });
    client.connect().catch(() => {}); // closed before it was connected
  }

  /** @throws Error that says why it does not answer. */
  async ask(): Promise<ClusterView> {
    const client = this.#client;
    if (!client.isReady) throw this.#error ?? new Error('not connected');
    const replies = Promise.all([client.sendCommand(['CLUSTER', 'INFO']), client.sendCommand(['CLUSTER', 'SLOTS'])]);
    this.misses += 1;
    const [info, slots] = await withDeadline(replies, ANSWER_MS, () => new Error('no reply'));
    this.misses = 0;
    const epoch = Number(/cluster_current_epoch:(\d+)/.exec(typeof info === 'string' ? info : '')?.[1] ?? 0);
    return { epoch, ranges: Array.isArray(slots) ? slots.flatMap((range) => this.#rangeOf(range)) : [] };
  }

  close(): void {
    this.#client.destroy();
  }

  #rangeOf(range: unknown): SlotRange[] {
    if (!Array.isArray(range)) return [];
    const [from, to, ...nodes]: unknown[] = range;
    const [master, ...replicas] = nodes.map((node) => this.#addressOf(node));
    return master === undefined ? [] : [{ from: Number(from), to: Number(to), master, replicas }];
  }

  /** A node whose own address is not known to it names none: it is the one that was asked. */
  #addressOf(node: unknown): ServerAddress {
    const [host, port]: unknown[] = Array.isArray(node) ? node : [];
    const known = typeof host === 'string' && host !== '' && host !== '?';
    return { host: known ? host : this.address.host, port: Number(port) };
  }
}
