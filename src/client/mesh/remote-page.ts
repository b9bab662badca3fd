/**
 * Tracks the page load that the signals of a member come from. After a refresh the member is the same, but the new page has
 * none of the former page's connections.
 */
import type { PageClock } from '../runtime.ts';

/**
 * How long signals of the former page are ignored after a refresh. Not for ever: signals may arrive out of order, so that
 * the supposed former page is the current one.
 */
const LATE_MS = 3_000;

export class RemotePage {
  readonly #clock: PageClock;
  #id: string | undefined;
  #formerId: string | undefined;
  #changedAt = 0;
  /** Number of the last offer made by this page, also by an earlier connection of it. */
  lastOffer = 0;

  constructor(clock: PageClock) {
    this.#clock = clock;
  }

  /** False for a peer without this SDK, which sends no `page`: a refresh of it cannot be detected. */
  get isKnown(): boolean {
    return this.#id !== undefined;
  }

  /** Compares the page of a signal with the current page. */
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
