/** What a signal does while nothing has been started that would have to be ended. */
import { constants } from 'node:os';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The exit code of a program that a signal has ended, as shells and containers write it. */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

const endAtOnce = (signal: NodeJS.Signals): void => process.exit(exitCodeOf(signal));

export function endAtOnceOnSignals(): void {
  for (const signal of SIGNALS) process.on(signal, endAtOnce);
}

/** For a command that ends by itself what it has started, and listens to them from now on. */
export function listenToSignalsItself(): void {
  for (const signal of SIGNALS) process.off(signal, endAtOnce);
}
