/** Clock and random numbers of the client, passed as arguments: a test may replace them. */
import { type Chance, systemChance } from '../support/chance.ts';
import type { Clock } from '../support/clock.ts';
import { pageClock } from '../support/page-clock.ts';

export type PageClock = Pick<Clock, 'monotonic' | 'after' | 'every'>;

export interface Runtime {
  readonly clock: PageClock;
  /** For jitter. */
  readonly chance: Chance;
}

export const pageRuntime: Runtime = { clock: pageClock, chance: systemChance };
