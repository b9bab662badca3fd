/**
 * The time of a store, as far as its replies tell, for what all nodes have to agree on (the year of a number, the timestamp
 * of a signature): the clock of one node may be wrong, or be set.
 */
import type { Clock } from './clock.ts';

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
