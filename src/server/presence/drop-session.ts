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
