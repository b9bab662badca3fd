/** Whether other nodes share the store: whoever is alone has nobody to wait for when the store has lost its state. */
import type { NodeId } from '../../protocol/ids.ts';
import { singleFlight } from '../../support/async/single-flight.ts';
import type { ServerContext } from '../context.ts';

export interface WaitedFor {
  readonly connected: readonly NodeId[];
  readonly sole: boolean;
}

export class OtherNodes {
  readonly #context: Pick<ServerContext, 'clock' | 'options'>;
  readonly #list: () => Promise<readonly NodeId[]>;
  #seenAt = Number.NEGATIVE_INFINITY;

  constructor(context: Pick<ServerContext, 'engine' | 'clock' | 'options'>) {
    this.#context = context;
    this.#list = singleFlight(() => context.engine.nodes());
  }

  /** To be called often enough that a node is seen before its members would lose their seats. */
  async look(): Promise<readonly NodeId[]> {
    const nodes = await this.#list();
    if (nodes.length > 1) this.#seenAt = this.#context.clock.monotonic();
    return nodes;
  }

  /**
   * The connected nodes, this one included, and whether there is nobody else to wait for: a node whose connections to the store
   * were lost with those of this one may be back later than this one, so it counts as here until the leases of its members have
   * ended.
   */
  async waitedFor(): Promise<WaitedFor> {
    const connected = await this.look();
    const { clock, options } = this.#context;
    return { connected, sole: clock.monotonic() - this.#seenAt > options.userTtlMs };
  }
}
