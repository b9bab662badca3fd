/** Taking a seat and giving one back. */
import type { RoomSnapshot } from '../../protocol/snapshot.ts';
import type { SeatKey } from '../../room/commands.ts';
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import { announce } from './announce.ts';
import { clearSeat } from './local-seat.ts';
import { socketRoomsOf, unsubscribe } from './subscription.ts';
import { refreshUserSoon } from './user-record.ts';

/** Records the seat that the engine has given, and gives back the one that the session had before. */
export async function assignSeat(
  context: ServerContext,
  session: Session,
  { code, ref, rev, members }: Pick<RoomSnapshot, 'code' | 'ref' | 'rev' | 'members'>,
): Promise<void> {
  const before = session.seatKey;
  // Subscribes again: the end of an earlier seat in the same room may have unsubscribed meanwhile.
  session.joinSocketRooms(socketRoomsOf(ref, session.userId));
  context.registry.setSeat(session, { code, ref }, { rev, seats: members.length });
  refreshUserSoon(context, session);
  if (before === undefined || before.ref === ref) return;
  // The new seat is taken; an old one that cannot be given back now is reaped when its lease ends.
  await leaveSeat(context, session, before).catch((error: unknown) => {
    context.log.warn({ err: error }, 'an old seat was not given back');
    unsubscribe(session, before.ref);
  });
}

/** Gives a seat back. Whatever the engine answers, the session holds it no longer. */
export async function leaveSeat(context: ServerContext, session: Session, key: SeatKey): Promise<void> {
  const outcome = await context.engine.apply({ kind: 'leave', ...key });
  if (session.seat?.ref === key.ref) clearSeat(context, session);
  unsubscribe(session, key.ref);
  if (outcome.ok) announce(context, outcome);
}
