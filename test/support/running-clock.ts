/**
 * A clock that advances by itself, at a chosen speed, and can be advanced by hand too. It stands still while the process
 * does: on a busy machine no deadline passes before the events that it waits for.
 */
import { type ManualClock, manualClock } from './manual-clock.ts';

export interface RunningClock extends ManualClock, Disposable {}

const STEP_MS = 10;

/** @param speed how many of its seconds pass in one real second */
export function runningClock(speed = 1): RunningClock {
  const clock = manualClock(Date.now());
  const timer = setInterval(() => clock.advance(STEP_MS * speed), STEP_MS);
  return { ...clock, [Symbol.dispose]: () => clearInterval(timer) };
}
