/** A disposal stack: what has been started is ended in reverse, when a start fails half-way as when a server closes. */
import { type Log, silentLog } from '../support/log.ts';

export interface Shutdown {
  /** Registers the end of what has just been started. The last one registered runs first. */
  readonly add: (end: () => unknown) => void;
  /**
   * Runs the ends one after the other, each whether or not those before have failed. Once, however often it is called.
   *
   * @throws the failure, when there was one; an AggregateError of several.
   */
  readonly run: () => Promise<void>;
}

export function createShutdown(): Shutdown {
  const ends: (() => unknown)[] = [];
  let running: Promise<void> | undefined;
  return {
    add: (end) => void ends.push(end),
    run() {
      running ??= endAll(ends);
      return running;
    },
  };
}

async function endAll(ends: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 1) throw new AggregateError(failures, 'several parts were not ended');
  if (failures.length === 1) throw failures[0];
}

/** For a caller that throws the failure of the start: a failure of the shutdown is only logged. Never rejects. */
export async function closeAfterFailure(close: () => Promise<void>, log: Log = silentLog): Promise<void> {
  await close().catch((error: unknown) => log.error({ err: error }, 'not all that was started has been ended'));
}
