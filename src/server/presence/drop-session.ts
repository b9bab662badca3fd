/** Ending a connection so that its client comes back and resumes. */
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import { unsubscribe } from './subscription.ts';

/**
 * The session leaves the roster and its Socket.IO rooms first: a signal that comes while the connection closes is refused
 * with `PEER_AWAY`, where it would be acknowledged and dropped.
 */
export function withdrawSession({ registry }: Pick<ServerContext, 'registry'>, session: Session): void {
  registry.remove(session);
  if (session.seat !== null) unsubscribe(session, session.seat.ref);
}

export function dropSession(context: Pick<ServerContext, 'registry'>, session: Session): void {
  withdrawSession(context, session);
  session.drop();
}

/** A resume costs the node that takes the session over 2 to 4 ms of processor time. */
const SESSIONS_PER_SECOND = 250;
/** Those that are asked at the same time do not come back at the same time. */
const RECONNECT_SPREAD_MS = 250;

/** Milliseconds over which so many clients are asked to go elsewhere: faster than that only where it would take too long. */
export const askingMs = (sessions: number, longestMs: number): number =>
  Math.min((sessions / SESSIONS_PER_SECOND) * 1000, longestMs);

/** Asks a client to go elsewhere, and closes its connection. Its seat is kept. */
export function askToGo(
  { registry, clock, random }: Pick<ServerContext, 'registry' | 'clock' | 'random'>,
  session: Session,
): void {
  withdrawSession({ registry }, session);
  session.push('server:drain', { reconnectInMs: random.integer(RECONNECT_SPREAD_MS) });
  // A connection that is closed while its last push is being written loses it: one turn of the loop writes it out.
  clock.nextTurn(() => session.drop());
}
