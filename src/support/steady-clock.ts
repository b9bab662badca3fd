/** Instants that never step, and the steps of the clock that they are taken from. */
import type { Clock } from './clock.ts';

/** Steps up to this size are followed: NTP makes such ones, and no deadline is as short. */
const MAX_FOLLOWED_MS = 1_000;

/**
 * A clock whose `now` follows the given one, but for larger steps: those of an operator, or of the first synchronization
 * of a machine whose clock has no battery. After such a step it goes on from where it was, with the monotonic clock, so
 * nothing ends early or late. Never set back.
 *
 * @param onStep is told of each such step, in milliseconds.
 */
export function createSteadyClock(clock: Clock, onStep: (ms: number) => void = () => {}): Clock {
  /** The wall clock minus the monotonic one at the last reading: `seen` of the wall clock, `kept` of this one. */
  let seen = clock.now() - clock.monotonic();
  let kept = seen;
  let latest = clock.now();
  return {
    now() {
      const now = clock.now();
      const offset = now - clock.monotonic();
      const step = offset - seen;
      seen = offset;
      if (Math.abs(step) <= MAX_FOLLOWED_MS) kept += step;
      else onStep(step);
      // Computed only while the clocks differ: sums of fractions are not exact.
      const steady = kept === offset ? now : Math.round(now + kept - offset);
      latest = Math.max(latest, steady);
      return latest;
    },
    monotonic: () => clock.monotonic(),
    after: (ms, call) => clock.after(ms, call),
    every: (ms, call) => clock.every(ms, call),
    nextTurn: (call) => clock.nextTurn(call),
  };
}
