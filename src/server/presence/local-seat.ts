/** The seat of a session as this node records it, when the engine has taken it away. */
import type { SeatKey } from '../../room/commands.ts';
import type { SeatRefusal } from '../../room/outcomes.ts';
import type { ServerContext } from '../context.ts';
import { type Refused, refuse } from '../replies.ts';
import type { Session } from '../sessions/session.ts';
import { replaceAndRefuse } from './replace-session.ts';
import { unsubscribe } from './subscription.ts';
import { refreshUserSoon } from './user-record.ts';

/**
 * Unsubscription delay after a room's end: `room:closed` over pub/sub, the eviction message and the tick arrive in any
 * order, and a socket has to be subscribed when the first of them does.
 */
export const ROOM_END_LINGER_MS = 1000;

/** Records that the session has no seat any more. */
export function clearSeat(context: ServerContext, session: Session): void {
  context.registry.unsetSeat(session);
  if (session.connected) refreshUserSoon(context, session);
}

/** Records that the session's room has ended; unsubscribes it a little later. */
export function detachFromEndedRoom(context: ServerContext, session: Session): void {
  const ref = session.seat?.ref;
  clearSeat(context, session);
  if (ref !== undefined) context.clock.after(ROOM_END_LINGER_MS, () => unsubscribe(session, ref));
}

/** The engine does not know the seat `key`: brings this node in line with it, and answers the request. */
export function handleLostSeat(
  context: ServerContext,
  session: Session,
  key: SeatKey,
  { reason }: SeatRefusal,
): Refused {
  if (reason === 'SESSION_EXPIRED') return replaceAndRefuse(context, session);
  // The seat has been cleared already; a new join may be under way, so its subscription is left alone.
  if (session.seat?.ref !== key.ref) return refuse(reason);
  // The room has been given another code while the request was under way.
  if (session.seat.code !== key.code) return refuse('STORE_UNAVAILABLE', { retryAfterMs: 0 });
  if (reason === 'CODE_EXPIRED') {
    detachFromEndedRoom(context, session);
  } else {
    clearSeat(context, session);
    unsubscribe(session, key.ref);
  }
  return refuse(reason);
}
