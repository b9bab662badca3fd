/**
 * Bounds what a node has sent to Redis and is not answered yet. Without a bound, commands and replies queue on both sides of
 * the connection while it is busy: Redis keeps the replies in its memory, and every later command waits behind them, also
 * when the load is over. A command above the bound is refused at once.
 */
import { StoreUnavailable } from '../support/store.ts';

/**
 * `bulk`: reads that a client can ask for as often as it likes. `vital`: commands that keep or release what is there, and
 * that nobody would repeat: they still pass when the others are refused.
 */
export type Urgency = 'bulk' | 'ordinary' | 'vital';

export interface InFlightBounds {
  readonly commands: number;
  /** Of the commands, and of the replies that are expected to them. */
  readonly bytes: number;
}

const BOUNDS: InFlightBounds = { commands: 4096, bytes: 16 * 1024 * 1024 };
/** The share of the bounds that commands of each urgency may fill. */
const SHARES: Readonly<Record<Urgency, number>> = { bulk: 0.5, ordinary: 1, vital: 4 };
/** The weight of the last reply in the average size of a script's replies. */
const NEWEST = 1 / 8;

export class InFlight {
  readonly #bounds: InFlightBounds;
  /** The average size of the replies, by script. */
  readonly #expected = new Map<string, number>();
  #commands = 0;
  #bytes = 0;

  constructor(bounds: InFlightBounds = BOUNDS) {
    this.#bounds = bounds;
  }

  /**
   * @param script names the kind of the command: its replies are expected to be as large as the last ones
   * @param size bytes of the command
   * @throws StoreUnavailable at once, without sending, when too much is in flight
   */
  async run(script: string, size: number, urgency: Urgency, send: () => Promise<unknown>): Promise<unknown> {
    const share = SHARES[urgency];
    const reserved = size + (this.#expected.get(script) ?? 0);
    if (this.#commands >= this.#bounds.commands * share || this.#bytes >= this.#bounds.bytes * share) {
      throw new StoreUnavailable('too many commands wait for Redis');
    }
    this.#commands += 1;
    this.#bytes += reserved;
    try {
      const reply = await send();
      if (typeof reply === 'string') this.#learn(script, Buffer.byteLength(reply));
      return reply;
    } finally {
      this.#commands -= 1;
      this.#bytes -= reserved;
    }
  }

  #learn(script: string, size: number): void {
    const before = this.#expected.get(script) ?? size;
    this.#expected.set(script, before + (size - before) * NEWEST);
  }
}
