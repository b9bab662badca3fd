/**
 * A clock that goes on by itself, faster than others when it is to, and can be turned besides. It stands still when the
 * process does: on a busy machine nothing comes later by it than what it waits for.
 */
import { type HandClock, handClock } from './hand-clock.ts';

export interface GoingClock extends HandClock, Disposable {}

const STEP_MS = 10;

/** @param speed how many seconds go by in one */
export function goingClock(speed = 1): GoingClock {
  const clock = handClock(Date.now());
  const going = setInterval(() => clock.turn(STEP_MS * speed), STEP_MS);
  return { ...clock, [Symbol.dispose]: () => clearInterval(going) };
}
