/** Leaves a server for whichever one its name leads to now. */
import { backoffMs } from '../support/backoff.ts';
import type { Clock } from '../support/clock.ts';

interface LeavingClient {
  readonly isReady: boolean;
  sendCommand(args: string[]): Promise<unknown>;
}

/** Between two attempts: while the name still leads to the old server, its subscriptions are not cut at every refusal. */
const PAUSE = { firstMs: 500, maxMs: 4_000 };
/** Without a call for so long, the next one begins with the first pause. */
const QUIET_MS = 30_000;

/**
 * Ends the connections from the side of the server, by QUIT: then the clients connect again as after any loss, with their
 * pauses, and resolve the name anew.
 *
 * @returns a function that may be called at every refusal: most calls do nothing.
 */
export function createReconnect(clients: readonly LeavingClient[], clock: Pick<Clock, 'monotonic'>): () => void {
  let attempts = 0;
  let notBefore = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now < notBefore) return;
    attempts = now - notBefore > QUIET_MS ? 0 : attempts + 1;
    notBefore = now + backoffMs(attempts, PAUSE);
    // Not while disconnected: queued, the command would end the next connection.
    for (const client of clients) if (client.isReady) client.sendCommand(['QUIT']).catch(() => {});
  };
}
