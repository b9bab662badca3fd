/** Whether other nodes share the store: whoever is alone has nobody to wait for when the store has lost its state. */
import { singleFlight } from '../../support/async/single-flight.ts';
import type { ServerContext } from '../context.ts';

export class OtherNodes {
  readonly #context: Pick<ServerContext, 'clock' | 'options'>;
  readonly #count: () => Promise<number>;
  #seenAt = Number.NEGATIVE_INFINITY;

  constructor(context: Pick<ServerContext, 'engine' | 'clock' | 'options'>) {
    this.#context = context;
    this.#count = singleFlight(async () => (await context.engine.nodes()).length - 1);
  }

  /** To be called often enough that a node is seen before its members would lose their seats. */
  async look(): Promise<void> {
    if ((await this.#count()) > 0) this.#seenAt = this.#context.clock.monotonic();
  }

  /**
   * A node whose connections to the store were lost with those of this one may be back later than this one: it counts as
   * here until the leases of its members have ended.
   */
  async areGone(): Promise<boolean> {
    await this.look();
    const { clock, options } = this.#context;
    return clock.monotonic() - this.#seenAt > options.userTtlMs;
  }
}
