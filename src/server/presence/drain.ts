/** Going away in order: clients are asked to connect elsewhere, spread over a while, and their seats are kept. */
import type { ServerContext } from '../context.ts';

/** Clients of a node that goes away come back over this span, not all at once. */
const SPREAD_MS = 2000;

export interface Drain {
  readonly draining: boolean;
  /** Asks every client to go, and waits until they have or `drainMs` is over. */
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
      for (const session of sessions) session.push('server:drain', { reconnectInMs: random.integer(SPREAD_MS) });
      // A connection that is closed while its last push is being written loses it: one turn of the loop lets it out.
      await new Promise<void>((resolve) => setImmediate(resolve));
      for (const session of sessions) session.drop();
      const ended = Promise.allSettled(sessions.map((session) => session.queue.run(async () => {})));
      await Promise.race([ended, new Promise<void>((resolve) => clock.after(options.drainMs, resolve))]);
    },
  };
}
