/**
 * The time of the store, as far as its replies tell: receivers refuse signatures of another time than theirs, and one node
 * may have a wrong clock.
 */
import type { Clock } from '../support/clock.ts';

export interface StoreTime {
  /** Milliseconds since 1970, by the store's clock; by this node's while no reply has told the store's. */
  now(): number;
  /** @param now of a reply that has just arrived; undefined from a store without a clock of its own. */
  learn(now: number | undefined): void;
}

export function createStoreTime(clock: Pick<Clock, 'now' | 'monotonic'>): StoreTime {
  let offset: number | undefined;
  return {
    now: () => (offset === undefined ? clock.now() : Math.floor(clock.monotonic() + offset)),
    learn(now) {
      if (now !== undefined) offset = now - clock.monotonic();
    },
  };
}
