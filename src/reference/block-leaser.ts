/** Leases blocks of one item type, and raises an alarm when the ledger has lost leases: its seed is below numbers in use. */
import type { Log } from '../support/log.ts';
import type { StoreWatch } from '../support/store-watch.ts';
import type { ItemType } from './item-types.ts';
import type { Ledger } from './ledger.ts';
import { type ReferenceNotice, ReferenceUnavailable } from './port.ts';
import type { Range } from './range.ts';

export class BlockLeaser {
  readonly #name: string;
  readonly #type: ItemType;
  readonly #ledger: Ledger;
  readonly #watch: StoreWatch;
  readonly #log: Log;
  readonly #notify: (notice: ReferenceNotice) => void;
  /** Highest number of each year that this process knows to be in use. */
  readonly #inUse = new Map<number, number>();

  constructor(
    name: string,
    type: ItemType,
    deps: {
      readonly ledger: Ledger;
      /** Of the ledger. */
      readonly watch: StoreWatch;
      readonly log: Log;
      readonly notify: (notice: ReferenceNotice) => void;
    },
  ) {
    this.#name = name;
    this.#type = type;
    this.#ledger = deps.ledger;
    this.#watch = deps.watch;
    this.#log = deps.log;
    this.#notify = deps.notify;
  }

  get inUse(): { year: number; number: number }[] {
    return [...this.#inUse].map(([year, number]) => ({ year, number }));
  }

  noteInUse({ year, last }: Pick<Range, 'year' | 'last'>): void {
    this.#inUse.set(year, Math.max(last, this.#inUse.get(year) ?? 0));
  }

  /**
   * @param step how many numbers; with 0 none, only the ledger is tried
   * @param floor a number known to be in use
   * @throws ReferenceUnavailable
   */
  async lease(year: number, step: number, floor = 0): Promise<Range> {
    const { prefix } = this.#type;
    const highest = Math.max(floor, this.#inUse.get(year) ?? 0);
    const lease = await this.#guarded(
      `lease ${this.#name}`,
      () => this.#ledger.lease({ prefix, year, step, floor: highest }),
      () => this.lease(year, 0, floor),
    );
    // Numbers in use were leased before this request, so a lower seed must have been higher once.
    if (lease.seed < lease.floor) this.#reportBehind(year, lease.seed, lease.floor, lease.first);
    const range = { year, first: lease.first, last: lease.last };
    this.noteInUse(range);
    this.#log.debug({ itemType: this.#name, ...range }, 'a block of numbers was leased');
    return range;
  }

  /** @throws ReferenceUnavailable */
  now(): Promise<number> {
    return this.#guarded(
      'time',
      () => this.#ledger.now(),
      () => this.now(),
    );
  }

  async #guarded<T>(work: string, run: () => Promise<T>, retry: () => Promise<unknown>): Promise<T> {
    try {
      return await this.#watch.run(work, run, retry);
    } catch (error) {
      const why = `${this.#ledger.name}: ${reasonOf(error)}`;
      throw new ReferenceUnavailable(`no ${this.#name} number can be issued: the ledger does not answer (${why})`, {
        cause: error,
      });
    }
  }

  #reportBehind(year: number, seed: number, inUse: number, continuesAt: number): void {
    const notice: ReferenceNotice = { kind: 'ledger-behind', itemType: this.#name, year, seed, inUse, continuesAt };
    this.#log.error(
      notice,
      'the ledger has forgotten numbers that are in use: was its database restored? Counting goes on past them',
    );
    this.#notify(notice);
  }
}

const REASON_LENGTH = 300;

/** One line of a driver's message, without the credentials of a URL in it. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  return message
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\/\/\S*@/g, '//')
    .slice(0, REASON_LENGTH);
}
