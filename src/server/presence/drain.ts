/** Drain before a shutdown: clients are asked to reconnect elsewhere, spread over a span; their seats are kept. */
import type { ServerContext } from '../context.ts';

/** Clients of a draining node reconnect over this span, not all at once. */
const RECONNECT_SPREAD_MS = 2000;

export interface Drain {
  readonly draining: boolean;
  /** Asks every client to go, and waits until their sessions have ended, `drainMs` at most. */
  begin(): Promise<void>;
}

export function createDrain({ registry, random, clock, options }: ServerContext): Drain {
  let draining = false;
  return {
    get draining() {
      return draining;
    },
    async begin() {
      draining = true;
      const sessions = [...registry.all()];
      for (const session of sessions) {
        session.push('server:drain', { reconnectInMs: random.integer(RECONNECT_SPREAD_MS) });
      }
      // A connection that is closed while its last push is being written loses it: one turn of the loop writes it out.
      await new Promise<void>((resolve) => clock.nextTurn(resolve));
      for (const session of sessions) session.drop();
      const ended = Promise.allSettled(sessions.map((session) => session.queue.run(async () => {})));
      await Promise.race([ended, new Promise<void>((resolve) => clock.after(options.drainMs, resolve))]);
    },
  };
}
