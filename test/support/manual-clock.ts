/** A clock that stands still until a test advances it. */
import type { Clock } from '../../src/support/clock.ts';

export interface ManualClock extends Clock {
  /** Advances by `ms` and calls what is due on the way. A negative `ms` sets `now` back, but not the timers. */
  advance(ms: number): void;
  /** Sets `now` forward or back, but neither `monotonic` nor the timers: as an operator or NTP does. */
  step(ms: number): void;
}

interface Timer {
  at: number;
  readonly every: number | undefined;
  readonly call: () => void;
}

export function manualClock(startsAt = 1_700_000_000_000): ManualClock {
  let elapsed = 0;
  let offset = startsAt;
  const timers = new Set<Timer>();
  const add = (ms: number, every: number | undefined, call: () => void) => {
    const timer = { at: elapsed + ms, every, call };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const nextBefore = (end: number): Timer | undefined =>
    [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => offset + elapsed,
    monotonic: () => elapsed,
    after: (ms, call) => add(ms, undefined, call),
    every: (ms, call) => add(ms, ms, call),
    // Turns of the event loop are real: no time goes by in them.
    nextTurn: (call) => void setImmediate(call),
    step(ms) {
      offset += ms;
    },
    advance(ms) {
      if (ms < 0) {
        offset += ms;
        return;
      }
      const end = elapsed + ms;
      for (let timer = nextBefore(end); timer !== undefined; timer = nextBefore(end)) {
        elapsed = timer.at;
        if (timer.every === undefined) timers.delete(timer);
        else timer.at += timer.every;
        timer.call();
      }
      elapsed = end;
    },
  };
}
