/**
 * The two steps before a shutdown. A node first _leaves_: `/readyz` fails and new users are refused, so that load
 * balancers send no more, while everybody who is connected or comes back is served as before. Then it _drains_: clients are asked to
 * reconnect elsewhere, spread over a span; their seats are kept. Both together take `drainMs` at most.
 */
import type { Clock } from '../../support/clock.ts';
import type { ServerContext } from '../context.ts';

/** Clients of a draining node reconnect over this span, not all at once. */
const RECONNECT_SPREAD_MS = 2000;

export interface Drain {
  /** From the first step on. */
  readonly leaving: boolean;
  /** From the second step on. */
  readonly draining: boolean;
  /** What is left of `drainMs`, which begins with the first step that is taken. */
  readonly leftMs: number;
  /** The first step. Resolves after `drainReadyMs`, or when the second has begun. */
  leave(): Promise<void>;
  /** The second step: asks every client to go, and waits until their sessions have ended, as long as time is left. */
  begin(): Promise<void>;
}

type DrainContext = Pick<ServerContext, 'registry' | 'random' | 'clock' | 'options' | 'engine'>;

export function createDrain(context: DrainContext): Drain {
  const { clock, options, engine } = context;
  let leftAt: number | undefined;
  let isDraining = false;
  let leaving: { readonly waited: Promise<void>; readonly end: () => void } | undefined;
  const startTime = () => {
    if (leftAt !== undefined) return;
    leftAt = clock.monotonic();
    engine.fanout.leave(options.drainMs);
  };
  return {
    get leaving() {
      return leftAt !== undefined;
    },
    get draining() {
      return isDraining;
    },
    get leftMs() {
      const passed = leftAt === undefined ? 0 : clock.monotonic() - leftAt;
      return Math.max(0, options.drainMs - passed);
    },
    async leave() {
      startTime();
      if (isDraining || options.drainReadyMs === 0) return;
      leaving ??= pause(clock, options.drainReadyMs);
      await leaving.waited;
    },
    async begin() {
      startTime();
      isDraining = true;
      leaving?.end();
      await askAllToGo(context, this.leftMs);
    },
  };
}

/** A wait that can be ended early. */
function pause(clock: Clock, ms: number): { readonly waited: Promise<void>; readonly end: () => void } {
  let end = (): void => {};
  const waited = new Promise<void>((resolve) => {
    const stop = clock.after(ms, resolve);
    end = () => {
      stop();
      resolve();
    };
  });
  return { waited, end };
}

async function askAllToGo({ registry, random, clock }: DrainContext, limitMs: number): Promise<void> {
  const sessions = [...registry.all()];
  for (const session of sessions) {
    session.push('server:drain', { reconnectInMs: random.integer(RECONNECT_SPREAD_MS) });
  }
  // A connection that is closed while its last push is being written loses it: one turn of the loop writes it out.
  await new Promise<void>((resolve) => clock.nextTurn(resolve));
  for (const session of sessions) session.drop();
  const ended = Promise.allSettled(sessions.map((session) => session.queue.run(async () => {})));
  const { waited, end } = pause(clock, limitMs);
  await Promise.race([ended, waited]);
  end();
}
