/** Resuming a seat: the connection of the same user takes it over, on whichever node it arrives. */
import type { RoomSnapshot } from '../../protocol/snapshot.ts';
import type { Arrive, Outcome } from '../../room/commands.ts';

import type { ServerContext } from '../context.ts';
import type { Session } from '../sessions/session.ts';
import { announce } from './announce.ts';
import { evictedMeanwhile, evictSession } from './evict-session.ts';
import { assignSeat, suspendSeat } from './seats.ts';
import { StandIn } from './stand-in.ts';
import { socketRoomsOf } from './subscription.ts';

type Seat = NonNullable<Outcome<Arrive>['seat']>;

/**
 * Resumes a seat and sends `welcome`, which must be the first push: the socket may not enter the Socket.IO rooms before
 * it. A stand-in receives what is sent to the member meanwhile, and hands it over behind `welcome`.
 *
 * @returns false when there was no seat to resume, and no `welcome` has been sent. True also for a session that was
 *   replaced meanwhile: it gets no push any more.
 */
export async function resumeSeat(
  context: ServerContext,
  session: Session,
  { code, ref }: Seat,
  welcome: (room: RoomSnapshot | null) => void,
): Promise<boolean> {
  const { engine, io, nodeId, registry } = context;
  // The record of a user who was not connected then does not have the other code that the room was given.
  const seat = { code: registry.presentCode({ code, ref }), ref };
  const { userId, number } = session;
  const rooms = socketRoomsOf(seat.ref, userId);
  const standIn = new StandIn(session);
  const leave = standIn.enter(io, rooms);
  try {
    await Promise.all(rooms.map((room) => engine.fanout.live(room)));
    // Without an answer the session is dropped, and its end has to suspend a seat that was resumed.
    session.unsettled = { ref: seat.ref, undo: () => suspendSeat(context, session.keyOf(seat)) };
    const outcome = await engine.apply({ kind: 'resume', ...seat, userId, session: number, nodeId });
    session.unsettled = undefined;
    if (!outcome.ok) return false;
    if (context.registry.get(userId) !== session) {
      // Replaced meanwhile: `session:replaced` was its last push, but its end has to suspend the seat.
      session.seat = { code: seat.code, ref: seat.ref };
      announce(context, outcome);
      return true;
    }
    const evicted = await evictedMeanwhile(context, session, seat);
    session.restoreProfile(outcome.room);
    const assigned = assignSeat(context, session, outcome.room);
    welcome(evicted === undefined ? outcome.room : null);
    if (evicted === undefined) standIn.handOver();
    leave();
    if (evicted !== undefined) evictSession(context, evicted);
    announce(context, outcome);
    await assigned;
    if (standIn.isOverflowed) pushMissedRevision(context, session, seat, outcome.room.rev);
    return true;
  } finally {
    leave();
  }
}

/** Nothing waits for it: if it fails, the tick pushes the revision too. */
function pushMissedRevision({ engine, log }: ServerContext, session: Session, seat: Seat, rev: number): void {
  engine.apply({ kind: 'resolve', ...seat }).then(
    (now) => {
      if (now.ok && now.rev > rev) session.push('room:rev', { ...seat, rev: now.rev });
    },
    (error: unknown) => log.debug({ err: error }, 'the revision of a resumed room was not read again'),
  );
}
