/**
 * After a stall of this process, longer than a client waits for a ping: a client may have left for another node meanwhile,
 * and what it had sent here before would be relayed behind what it has sent there since. So nothing is read from any
 * connection until the store has told that its session is still the user's latest.
 */
import type { Stop } from '../../support/clock.ts';
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import { replaceSession } from './replace-session.ts';
import { refreshUser } from './user-record.ts';

/** Looks for each ping timeout: a stall is noticed by the timer that comes late, before any socket is read. */
const LOOKS = 4;
/** Sessions asked for at the same time. */
const BATCH_SIZE = 200;

export function startStallWatch(context: ServerContext): Stop {
  const { clock, options, engine, registry, log } = context;
  // Without other nodes, a client can come back to this one only: the registry knows its latest session.
  if (engine.fanout.adapter === undefined) return () => {};
  const everyMs = options.pingTimeoutMs / LOOKS;
  let lookedAt = clock.monotonic();
  return clock.every(everyMs, () => {
    const stalledMs = clock.monotonic() - lookedAt - everyMs;
    lookedAt = clock.monotonic();
    if (stalledMs < options.pingTimeoutMs) return;
    const sessions = [...registry.all()];
    for (const session of sessions) session.pauseReading();
    log.warn({ stalledMs: Math.round(stalledMs), sessions: sessions.length }, 'this process stood still');
    void confirmAll(context, sessions);
  });
}

async function confirmAll(context: ServerContext, sessions: readonly Session[]): Promise<void> {
  for (let done = 0; done < sessions.length; done += BATCH_SIZE) {
    await Promise.all(sessions.slice(done, done + BATCH_SIZE).map((session) => confirm(context, session)));
  }
}

async function confirm(context: ServerContext, session: Session): Promise<void> {
  try {
    if (session.connected && (await refreshUser(context, session)) === undefined) replaceSession(context, session);
    else session.resumeReading();
  } catch (error) {
    // The store is away: no other node could have begun a session either.
    session.resumeReading();
    context.faults(error, 'touch');
  }
}
