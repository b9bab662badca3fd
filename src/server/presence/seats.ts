/** Taking a seat and giving one back. */
import { socketRoom } from '../../engine/socket-rooms.ts';
import type { RoomSnapshot } from '../../protocol/snapshot.ts';
import type { SeatKey } from '../../room/commands.ts';
import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import { announce } from './announce.ts';
import { clearSeat } from './local-seat.ts';
import { socketRoomsOf, unsubscribe } from './subscription.ts';
import { forgetDoubt, keepUnsettled } from './unknown-outcomes.ts';
import { refreshUserSoon } from './user-record.ts';

/** Records the seat that the engine has given, and gives back the one that the session had before. */
export async function assignSeat(
  context: ServerContext,
  session: Session,
  room: RoomSnapshot,
  epoch?: number,
): Promise<void> {
  const { ref } = room;
  const before = session.seatKey;
  context.departed.forget(ref, session.userId);
  forgetDoubt(context, session, ref);
  // Subscribes again: the end of an earlier seat in the same room may have unsubscribed meanwhile.
  session.joinSocketRooms(socketRoomsOf(ref, session.userId));
  context.registry.setSeat(session, room, epoch);
  refreshUserSoon(context, session);
  if (before === undefined || before.ref === ref) return;
  await leaveSeat(context, session, before).catch((error: unknown) => {
    context.log.debug({ err: error }, 'an old seat is given back later');
    unsubscribe(session, before.ref);
    keepUnsettled(context, session, { ref: before.ref, undo: () => leaveSeat(context, session, before) });
  });
}

/** Keeps a seat for the grace: its connection is lost. */
export async function suspendSeat(context: ServerContext, key: SeatKey): Promise<void> {
  const outcome = await context.engine.apply({ kind: 'suspend', ...key });
  if (!outcome.ok) return;
  announce(context, outcome);
  const { code, ref } = key;
  // It was away already, by an earlier attempt without an answer: nobody has announced that.
  if (outcome.events.length === 0) context.io.to(socketRoom(ref)).emit('room:rev', { code, ref, rev: outcome.rev });
}

/** Gives a seat back. Whatever the engine answers, the session holds it no longer. */
export async function leaveSeat(context: ServerContext, session: Session, key: SeatKey): Promise<void> {
  const outcome = await context.engine.apply({ kind: 'leave', ...key });
  if (session.seat?.ref === key.ref) clearSeat(context, session);
  unsubscribe(session, key.ref);
  if (!outcome.ok) return;
  context.departed.add(key);
  announce(context, outcome);
}
