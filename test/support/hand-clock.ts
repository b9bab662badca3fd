/** A clock that stands still until a test turns it. */
import type { Clock } from '../../src/support/clock.ts';

export interface HandClock extends Clock {
  /** Goes on by `ms`, or back, and calls what is due on the way. */
  turn(ms: number): void;
}

interface Timer {
  at: number;
  readonly every: number | undefined;
  readonly call: () => void;
}

export function handClock(startsAt = 1_700_000_000_000): HandClock {
  let now = startsAt;
  const timers = new Set<Timer>();
  const add = (ms: number, every: number | undefined, call: () => void) => {
    const timer = { at: now + ms, every, call };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const nextBefore = (end: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    after: (ms, call) => add(ms, undefined, call),
    every: (ms, call) => add(ms, ms, call),
    turn(ms) {
      const end = now + ms;
      for (let timer = nextBefore(end); timer !== undefined; timer = nextBefore(end)) {
        now = timer.at;
        if (timer.every === undefined) timers.delete(timer);
        else timer.at += timer.every;
        timer.call();
      }
      now = end;
    },
  };
}
