/** Ends a server on SIGINT or SIGTERM: one that runs, and one that is still starting. */
import closeWithGrace from 'close-with-grace';
import type { SignalboxServer } from '../server/signalbox.ts';
import type { Log } from '../support/log.ts';
import { exitCodeOf, listenToSignalsItself } from './early-signals.ts';

/** The least time for a shutdown, however short the drain: a part of it is for the stores. */
const MIN_CLOSE_MS = 3000;
/** For the end of a start, and what it has started. Docker kills after 10 s. */
const START_MS = 8000;

/**
 * Starts a server and ends it on a signal. During the start it is ended as soon as it has started: each part knows how it is
 * ended once it is there. Afterwards the process ends.
 *
 * @returns undefined when the process is about to end, because a signal came during the start.
 */
export async function startUntilSignal(
  start: () => Promise<SignalboxServer>,
  log: Log,
): Promise<SignalboxServer | undefined> {
  let ending: NodeJS.Signals | undefined;
  const onSecondSignal = (signal: string): void => log.warn({ signal }, 'a second signal: the process ends at once');
  const early = closeWithGrace(
    {
      delay: START_MS,
      skip: ['unhandledRejection', 'uncaughtException', 'beforeExit'],
      onSecondSignal,
      onTimeout: () => process.exit(ending === undefined ? 1 : exitCodeOf(ending)),
    },
    async ({ signal }) => {
      ending = signal;
      log.info({ signal }, 'shutting down: what has been started is ended as soon as the start is over');
      await (await started)?.close();
    },
  );
  listenToSignalsItself();
  // A start that fails has ended what it had started.
  const started = start().catch((error: unknown) => {
    if (ending === undefined) throw error;
    log.warn({ err: error }, 'the start has failed');
    return undefined;
  });
  const server = await started;
  if (server === undefined || ending !== undefined) return undefined;
  early.uninstall();
  endOnSignals(server, log, onSecondSignal);
  return server;
}

function endOnSignals(server: SignalboxServer, log: Log, onSecondSignal: (signal: string) => void): void {
  closeWithGrace(
    {
      delay: Math.max(server.options.drainMs, MIN_CLOSE_MS),
      skip: ['unhandledRejection'],
      onSecondSignal,
      onTimeout: (ms) => log.warn({ ms }, 'the shutdown took too long: the process ends'),
    },
    async ({ err, signal }) => {
      if (err) log.error({ err }, 'uncaught exception');
      log.info({ signal }, 'shutting down: clients are asked to reconnect to another node');
      // Who presses Ctrl+C in a terminal waits for no load balancer.
      await server.close({ waitForBalancers: signal === 'SIGTERM' });
    },
  );
}
