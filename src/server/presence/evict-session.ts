/** Takes the seat of a session on this node away, because the engine has. */
import type { Evicted } from '../../room/outcomes.ts';
import type { ServerContext } from '../context.ts';
import { clearSeat, detachFromEndedRoom } from './local-seat.ts';
import { unsubscribe } from './subscription.ts';

export type EvictedSession = Evicted & { readonly banned?: boolean };

/** Does nothing when the session has left the seat meanwhile. */
export function evictSession(
  context: ServerContext,
  { userId, session: number, code, ref, reason, banned }: EvictedSession,
): void {
  const session = context.registry.get(userId);
  if (session?.number !== number || session.seat?.ref !== ref) return;
  if (reason !== 'kicked' && reason !== 'lost') {
    detachFromEndedRoom(context, session);
    return;
  }
  if (banned === true) context.registry.room(ref)?.kept.learnBan(userId);
  clearSeat(context, session);
  unsubscribe(session, ref);
  if (reason === 'lost') {
    session.drop();
    return;
  }
  session.push('session:kicked', { code, ref, banned: banned === true });
  session.end();
}
