/** Starts several things, and gives one function that ends all of them. When one cannot be started, those before it are ended. */
import type { Stop } from './clock.ts';

export function startTogether(starts: readonly (() => Stop)[]): Stop {
  const stops: Stop[] = [];
  const stopAll = (): void => {
    for (const stop of stops) stop();
  };
  try {
    for (const start of starts) stops.push(start());
  } catch (error) {
    stopAll();
    throw error;
  }
  return stopAll;
}
