/** A start waits for a ledger that is silent for some seconds, and fails at once on one that refuses. */
import type { Clock } from '../support/clock.ts';
import type { Log } from '../support/log.ts';
import { ReferenceUnavailable } from './port.ts';

/**
 * An attempt that has failed sooner was refused: by the port, the password, or a name that is unknown. An operator is to see that
 * at once. It is the shortest time limit of a database, that of a lock.
 */
const REFUSED_MS = 1_000;
/** A node that is frozen within a transaction keeps its locks for some seconds, and a failover of a database takes some. */
const PATIENCE_MS = 15_000;

interface Surroundings {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
}

/** @throws what the last attempt has thrown */
export async function whileSilent(attempt: () => Promise<void>, { clock, log }: Surroundings): Promise<void> {
  const latest = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const began = clock.monotonic();
    try {
      return await attempt();
    } catch (error) {
      const now = clock.monotonic();
      const isSilent = error instanceof ReferenceUnavailable && now - began >= REFUSED_MS;
      if (!isSilent || now >= latest) throw error;
      log.warn({ err: error }, 'the ledger of references is asked again before the start fails');
    }
  }
}
