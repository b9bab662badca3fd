/** A periodic job: again after a while, at once while there is more to do, with back-off while it fails. */
import { type Backoff, backoffMs, jittered } from '../backoff.ts';
import type { Chance } from '../chance.ts';
import type { Clock, Stop } from '../clock.ts';
import type { Log } from '../log.ts';

export interface PeriodicOptions {
  /** Log line of the first failure: `calls are not recorded`. Those that follow it are logged at debug level. */
  readonly failure: string;
  /** Log line of the first success after failures: `calls are recorded again`. */
  readonly recovery: string;
  readonly everyMs: number;
  /** @returns whether there is more to do: then it runs again at once. */
  readonly work: () => Promise<boolean>;
  readonly clock: Pick<Clock, 'after'>;
  readonly random: Chance;
  readonly log: Pick<Log, 'debug' | 'info' | 'warn'>;
}

export interface Periodic {
  /** Starts no run any more, and resolves when the one under way has ended. */
  stop(): Promise<void>;
}

/** From half the interval to one and a half: nodes that started together do not stay in step. */
const SPREAD = { from: 0.5, to: 1.5 };
/** The longest pause while the work fails, by the longest spread. */
const MAX_PAUSE_MS = 30_000;

export function startPeriodic({ failure, recovery, everyMs, work, clock, random, log }: PeriodicOptions): Periodic {
  const backoff: Backoff = { firstMs: everyMs, maxMs: MAX_PAUSE_MS / SPREAD.to };
  let stopped = false;
  let failures = 0;
  let stopTimer: Stop = () => {};
  let underWay: Promise<void> = Promise.resolve();

  const run = async (): Promise<void> => {
    try {
      const more = await work();
      if (failures > 0) log.info(recovery);
      failures = 0;
      plan(more ? 0 : jittered(everyMs, SPREAD, random));
    } catch (error) {
      if (failures === 0) log.warn({ err: error }, failure);
      else log.debug({ err: error }, failure);
      failures += 1;
      plan(jittered(backoffMs(failures, backoff), SPREAD, random));
    }
  };
  const plan = (ms: number): void => {
    if (stopped) return;
    stopTimer = clock.after(ms, () => {
      underWay = run();
    });
  };

  plan(jittered(everyMs, SPREAD, random));
  return {
    async stop() {
      stopped = true;
      stopTimer();
      await underWay;
    },
  };
}
