/** The connections of one role to all masters of a Cluster. Each connects again by itself while it is a master. */
import { EventEmitter } from 'node:events';
import type { Clock, Stop } from '../../support/clock.ts';
import type { PlainClient } from '../client.ts';
import { FollowingConnection } from '../following-connection.ts';
import type { ServerAddress } from '../hosts-url.ts';
import { nameOf, type Topology } from './topology.ts';

export interface MastersOptions {
  readonly topology: Topology;
  /** A client that is not connected, and does not connect again by itself. */
  readonly makeClient: (address: ServerAddress) => PlainClient;
  readonly pauseMs: (retries: number) => number;
  readonly clock: Pick<Clock, 'after'>;
}

interface MasterEvents {
  up: [name: string];
  lost: [name: string, error: Error];
  error: [Error];
  /** Slots have moved. */
  moved: [];
  /** Redis has ended a subscription, because its slot has moved. */
  unsubscribed: [channel: string];
}

export class Masters {
  readonly events = new EventEmitter<MasterEvents>();
  readonly #options: MastersOptions;
  readonly #connections = new Map<string, FollowingConnection>();
  #release: Stop | undefined;

  constructor(options: MastersOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#release !== undefined;
  }

  get names(): readonly string[] {
    return [...this.#connections.keys()];
  }

  /** Of one that is connected. */
  client(name: string | undefined): PlainClient | undefined {
    return name === undefined ? undefined : this.#connections.get(name)?.client;
  }

  get ready(): readonly PlainClient[] {
    return [...this.#connections.values()].flatMap(({ client }) => client ?? []);
  }

  open(): void {
    const { topology } = this.#options;
    const release = topology.use();
    topology.events.on('change', this.#follow).on('silent', this.#drop);
    this.#release = () => {
      topology.events.off('change', this.#follow).off('silent', this.#drop);
      release();
    };
    this.#follow();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
    this.destroy();
  }

  destroy(): void {
    this.#release?.();
    this.#release = undefined;
    for (const connection of this.#connections.values()) connection.destroy();
    this.#connections.clear();
  }

  readonly #follow = (): void => {
    const { masters } = this.#options.topology;
    for (const [name, connection] of this.#connections) {
      if (masters.has(name)) continue;
      this.#connections.delete(name);
      const wasReady = connection.client !== undefined;
      connection.destroy();
      if (wasReady) this.events.emit('lost', name, new Error('it is not a master any more'));
    }
    for (const [name, address] of masters) if (!this.#connections.has(name)) this.#connect(name, address);
    this.events.emit('moved');
  };

  readonly #drop = (name: string): void => {
    const connection = this.#connections.get(name);
    if (connection?.client !== undefined) connection.drop(new Error('a master of the Cluster does not reply'));
  };

  #connect(name: string, address: ServerAddress): void {
    const { topology, makeClient, pauseMs, clock } = this.#options;
    const connection = new FollowingConnection({
      sentinels: { candidates: () => Promise.resolve([address]), watch: () => () => {} },
      makeClient: (to) => {
        const client = makeClient(to);
        client.on('sharded-channel-moved', (channel: string) => this.events.emit('unsubscribed', channel));
        return client;
      },
      prepare: () => Promise.resolve(),
      pauseMs,
      clock,
    });
    let up = false;
    connection.events.on('ready', () => {
      up = true;
      this.events.emit('up', name);
    });
    connection.events.on('error', (error) => {
      const wasUp = up;
      up = false;
      if (wasUp) this.events.emit('lost', nameOf(address), error);
      this.events.emit('error', error);
      topology.refresh();
    });
    this.#connections.set(name, connection);
    connection.open().catch(() => {}); // closed before it was connected
  }
}
