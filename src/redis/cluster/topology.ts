/**
 * Which master has which slot of a Cluster. All nodes are asked once a second, and at once after a redirection: the view
 * with the greatest epoch counts, because nodes learn of a failover one after the other. The same questions tell which
 * masters are connected and do not reply.
 */
import { EventEmitter } from 'node:events';
import { type Clock, type Stop, systemClock } from '../../support/clock.ts';
import type { PlainClient } from '../client.ts';
import type { ServerAddress } from '../hosts-url.ts';
import { ClusterNode, type ClusterView } from './node.ts';

export interface TopologyOptions {
  readonly seeds: readonly ServerAddress[];
  /** A client that is not connected, and that connects again by itself. */
  readonly makeClient: (address: ServerAddress) => PlainClient;
  readonly clock?: Pick<Clock, 'every' | 'after'>;
}

const ASK_EVERY_MS = 1_000;
/** Before the first view, connections are still being made. */
const FIRST_MS = 50;
/** With a question a second and its deadline, a frozen master is known after 2 to 3 s. */
const SILENT_AFTER = 2;

export const nameOf = ({ host, port }: ServerAddress): string => `${host}:${port}`;

export class Topology {
  readonly events = new EventEmitter<{ change: []; silent: [string] }>();
  readonly #options: TopologyOptions;
  readonly #nodes = new Map<string, ClusterNode>();
  #owners: readonly string[] = [];
  #masters: ReadonlyMap<string, ServerAddress> = new Map();
  #epoch = -1;
  #isAsking = false;
  #stop: Stop | undefined;
  #users = 0;
  problem: string | undefined = 'no node of the Cluster answers';

  constructor(options: TopologyOptions) {
    this.#options = options;
    this.events.setMaxListeners(0);
  }

  get masters(): ReadonlyMap<string, ServerAddress> {
    return this.#masters;
  }

  ownerOf(slot: number): string | undefined {
    return this.#owners[slot];
  }

  /** They are asked while somebody uses it. */
  use(): Stop {
    const { clock = systemClock, seeds } = this.#options;
    this.#users += 1;
    if (this.#users === 1) {
      for (const seed of seeds) this.#add(seed);
      this.#stop = clock.every(ASK_EVERY_MS, () => this.refresh());
      this.#begin(clock);
    }
    return () => {
      this.#users -= 1;
      if (this.#users > 0) return;
      this.#stop?.();
      for (const node of this.#nodes.values()) node.close();
      this.#nodes.clear();
    };
  }

  /** Asks at once, unless it is asking. Never rejects. */
  refresh(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#ask().finally(() => {
      this.#isAsking = false;
    });
  }

  #begin(clock: Pick<Clock, 'after'>): void {
    if (this.#users === 0 || this.#masters.size > 0) return;
    this.refresh();
    clock.after(FIRST_MS, () => this.#begin(clock));
  }

  async #ask(): Promise<void> {
    const nodes = [...this.#nodes.values()];
    const asked = await Promise.allSettled(nodes.map((node) => node.ask()));
    if (this.#users === 0) return;
    const views = asked.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const [newest] = views.filter(({ ranges }) => ranges.length > 0).toSorted((one, other) => other.epoch - one.epoch);
    const failure = asked.find((result) => result.status === 'rejected');
    if (newest !== undefined) this.#learn(newest);
    this.problem = newest === undefined ? problemOf(views, failure?.reason) : undefined;
    // While none answers, it may be this process that is slow.
    if (views.length === 0) return;
    for (const node of nodes) if (node.misses >= SILENT_AFTER) this.events.emit('silent', nameOf(node.address));
  }

  #learn({ epoch, ranges }: ClusterView): void {
    // Those that know more are silent: what they have said counts.
    if (epoch < this.#epoch) return;
    this.#epoch = epoch;
    const owners: string[] = [];
    const masters = new Map(ranges.map(({ master }) => [nameOf(master), master]));
    for (const { from, to, master } of ranges) {
      for (let slot = from; slot <= to; slot += 1) owners[slot] = nameOf(master);
    }
    const known = ranges.flatMap(({ master, replicas }) => [master, ...replicas]);
    this.#keepOnly([...this.#options.seeds, ...known]);
    const isSame = owners.length === this.#owners.length && owners.every((owner, slot) => owner === this.#owners[slot]);
    if (isSame) return;
    this.#owners = owners;
    this.#masters = masters;
    this.events.emit('change');
  }

  #keepOnly(addresses: readonly ServerAddress[]): void {
    const names = new Set(addresses.map(nameOf));
    for (const [name, node] of this.#nodes) {
      if (names.has(name)) continue;
      node.close();
      this.#nodes.delete(name);
    }
    for (const address of addresses) this.#add(address);
  }

  #add(address: ServerAddress): void {
    const name = nameOf(address);
    if (!this.#nodes.has(name)) this.#nodes.set(name, new ClusterNode(address, this.#options.makeClient(address)));
  }
}

function problemOf(views: readonly ClusterView[], reason: unknown): string {
  if (views.length > 0) return 'no master of the Cluster has slots';
  const text = reason instanceof Error ? reason.message : String(reason);
  if (/cluster support disabled/i.test(text)) return 'it is not a Cluster: use redis://';
  return `no node of the Cluster answers: ${text}`;
}
