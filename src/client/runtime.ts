/** Time and chance, passed down as arguments: a test may pass its own. */
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
