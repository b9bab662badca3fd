/** Work that is done again and again, beside everything else: seldom when it fails, at once when it has not come to an end. */
import type { Clock, Stop } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import type { Random } from '../support/random.ts';

export interface LoopParts {
  /** For the log: `calls are not recorded`. */
  readonly failure: string;
  /** For the log, when it works once more: `calls are recorded again`. */
  readonly recovery: string;
  readonly everyMs: number;
  /** @returns whether it is to be done again at once. */
  readonly work: () => Promise<boolean>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export interface Loop {
  /** Resolves when nothing of it is under way any more. Nothing is begun after that. */
  stop(): Promise<void>;
}

const MOST_MS = 30_000;

export function startLoop({ failure, recovery, everyMs, work, clock, random, log }: LoopParts): Loop {
  let stopped = false;
  let failures = 0;
  let stopTimer: Stop = () => {};
  let underWay: Promise<void> = Promise.resolve();

  // By chance between half of it and one and a half: nodes that started together do not go on together.
  const spread = (ms: number): number => Math.ceil(ms / 2) + random.integer(ms + 1);

  const once = async (): Promise<void> => {
    try {
      const more = await work();
      if (failures > 0) log.info(recovery);
      failures = 0;
      plan(more ? 0 : spread(everyMs));
    } catch (error) {
      // Once for each time that it begins; what follows says the same.
      if (failures === 0) log.warn({ err: error }, failure);
      else log.debug({ err: error }, failure);
      failures += 1;
      plan(spread(Math.min(MOST_MS / 1.5, everyMs * 2 ** Math.min(failures, 10))));
    }
  };
  const plan = (ms: number): void => {
    if (stopped) return;
    stopTimer = clock.after(ms, () => {
      underWay = once();
    });
  };

  plan(spread(everyMs));
  return {
    async stop() {
      stopped = true;
      stopTimer();
      await underWay;
    },
  };
}
