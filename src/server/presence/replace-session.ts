/** Ending a session whose user has a later one. */
import type { ServerContext } from '../context.ts';
import { type Refused, refuse } from '../replies.ts';
import type { Session } from '../sessions/session.ts';
import { unsubscribe } from './subscription.ts';

/** Ends the session: its user has a later one. */
export function replaceSession({ registry, clock }: ServerContext, session: Session): void {
  session.push('session:replaced', {});
  // It is the last push: events of the room must not reach the session until its connection ends.
  if (session.seat !== null) unsubscribe(session, session.seat.ref);
  registry.remove(session);
  // One turn later: the reply to the request under way is written first.
  clock.nextTurn(() => session.end());
}

/** Ends the session, and answers its request with `SESSION_EXPIRED`. */
export function replaceAndRefuse(context: ServerContext, session: Session): Refused {
  replaceSession(context, session);
  return refuse('SESSION_EXPIRED');
}
