/**
 * The two steps before a shutdown. A node first _leaves_: `/readyz` fails and new users are refused, so that load
 * balancers send no more, while everybody who is connected or comes back is served as before. Then it _drains_: clients are
 * asked to reconnect elsewhere and their connections closed, each when its turn comes; their seats are kept.
 */
import type { Clock } from '../../support/clock.ts';
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import { askingMs, askToGo } from './drop-session.ts';

const STEP_MS = 40;
/** Of `drainMs`, for the stores to close after the clients: a quarter at most. */
const STORES_MS = 5000;

export interface Drain {
  /** From the first step on. */
  readonly leaving: boolean;
  /** From the second step on. */
  readonly draining: boolean;
  /** What is left of `drainMs` for the clients. It begins with the first step that is taken. */
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
      return Math.max(0, options.drainMs - Math.min(STORES_MS, options.drainMs / 4) - passed);
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
      await letAllGo(context, this.leftMs);
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

/** Lets go of all sessions over the span, and waits until their connections have ended. */
async function letAllGo({ registry, random, clock, options }: DrainContext, limitMs: number): Promise<void> {
  const latest = clock.monotonic() + limitMs;
  const sessionsLeft = () => [...registry.all()];
  const spanMs = askingMs(sessionsLeft().length, Math.min(limitMs, options.graceMs) / 2);
  const spanEnd = clock.monotonic() + spanMs;
  const closing = new Set<Session>();
  let allClosed = (): void => {};
  // Its end is written to the store in the queue, behind a request that is under way.
  const closed = async (session: Session): Promise<void> => {
    await session.queue.run(async () => {});
    closing.delete(session);
    if (closing.size === 0 && sessionsLeft().length === 0) allClosed();
  };
  for (;;) {
    // Asked anew: a handshake that was admitted before the drain may begin its session during it.
    const sessions = sessionsLeft();
    const stepsLeft = Math.max(1, Math.ceil((spanEnd - clock.monotonic()) / STEP_MS));
    for (const session of sessions.slice(0, Math.ceil(sessions.length / stepsLeft))) {
      closing.add(session);
      if (session.connected) session.onceClosed(() => void closed(session));
      else void closed(session);
      askToGo({ registry, clock, random }, session);
    }
    if ((sessions.length === 0 && closing.size === 0) || clock.monotonic() >= latest) break;
    const { waited, end } = pause(clock, STEP_MS);
    allClosed = end;
    await waited;
  }
  for (const session of [...closing, ...sessionsLeft()]) session.terminate();
}
