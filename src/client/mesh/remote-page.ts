/**
 * Which page load of a member its signals come from. After a refresh the member is the same, but its page is another one,
 * which knows nothing of the connections of the former.
 */
import type { PageClock } from '../runtime.ts';

/**
 * How long signals of the former page are ignored after a refresh. Not for ever: two pages may alternate, and the one that
 * was taken for the former may be the later one.
 */
const LATE_MS = 3_000;

export class RemotePage {
  readonly #clock: PageClock;
  #id: string | undefined;
  #formerId: string | undefined;
  #changedAt = 0;
  /** Number of the last offer that this page has made. It outlives the connection of that offer. */
  lastOffer = 0;

  constructor(clock: PageClock) {
    this.#clock = clock;
  }

  /** A peer without this SDK names no page: it cannot be known whether it is still the same one. */
  get isKnown(): boolean {
    return this.#id !== undefined;
  }

  /** @returns how the page of a signal relates to the present one. */
  compare(id: string | undefined): 'same' | 'former' | 'new' {
    if (id === undefined || id === this.#id) return 'same';
    return id === this.#formerId && this.#clock.monotonic() < this.#changedAt + LATE_MS ? 'former' : 'new';
  }

  change(id: string | undefined): void {
    this.#formerId = this.#id;
    this.#changedAt = this.#clock.monotonic();
    this.#id = id;
    this.lastOffer = 0;
  }
}
