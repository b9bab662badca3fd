/** Takes the seat of a session on this node away, because the engine has. */
import type { Evicted } from '../../room/outcomes.ts';
import type { RoomKey } from '../../room/room.ts';
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import { dropSession } from './drop-session.ts';
import { clearSeat, detachFromEndedRoom } from './local-seat.ts';
import { unsubscribe } from './subscription.ts';

export type EvictedSession = Evicted & { readonly banned?: boolean };

/** Does nothing when the session has left the seat meanwhile; keeps the notice when it may be about to get it. */
export function evictSession(context: ServerContext, { userId, session: number, ...evicted }: EvictedSession): void {
  const { ref } = evicted;
  const session = context.registry.get(userId);
  if (session?.number !== number) return;
  if (session.seat?.ref !== ref) {
    if (session.queue.length > 0) session.notice = { userId, session: number, ...evicted };
    return;
  }
  const { code, reason, banned } = evicted;
  if (reason !== 'kicked' && reason !== 'lost') {
    detachFromEndedRoom(context, session);
    return;
  }
  if (banned === true) context.registry.room(ref)?.kept.learnBan(userId);
  clearSeat(context, session);
  unsubscribe(session, ref);
  if (reason === 'lost') {
    dropSession(context, session);
    return;
  }
  session.push('session:kicked', { code, ref, banned: banned === true });
  session.end();
}

/**
 * Whether the seat that the store has just given to the session is lost again: to be asked before it sits down.
 *
 * @returns the notice, for `evictSession` once it sits
 */
export async function evictedMeanwhile(
  { engine }: ServerContext,
  session: Session,
  key: RoomKey,
): Promise<EvictedSession | undefined> {
  let evicted: EvictedSession | undefined;
  while (session.notice !== undefined) {
    const { notice } = session;
    session.notice = undefined;
    if (notice.ref !== key.ref) continue;
    // It may be about an earlier seat of the session in that room. Without an answer, the notice is believed.
    const seat = await engine.apply({ kind: 'renew', ...session.keyOf(key) }).catch(() => undefined);
    if (seat?.ok !== true) evicted = notice;
  }
  return evicted;
}
