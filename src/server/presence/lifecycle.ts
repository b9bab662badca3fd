/** A session's beginning and end: arrive, resume, replace, disconnect. */

import { socketRoom, socketRoomOfMember } from '../../engine/socket-rooms.ts';
import { PROTOCOL_VERSION } from '../../protocol/limits.ts';
import { type AdvertisedLimits, handshake } from '../../protocol/messages.ts';
import type { RoomSnapshot } from '../../protocol/snapshot.ts';
import type { Arrive, Outcome } from '../../room/commands.ts';
import type { ServerContext } from '../context.ts';
import { HandshakeRefused } from '../replies.ts';
import { Session, type Socket } from '../sessions/session.ts';
import type { Drain } from './drain.ts';
import type { IdentityService } from './identity.ts';
import type { Seating } from './membership.ts';

type Arrived = Outcome<Arrive>;

export interface Lifecycle {
  /**
   * Admits a connection before it is one.
   *
   * @throws HandshakeRefused
   */
  admit(socket: Socket, address: string): Promise<{ session: Session; arrived: Arrived }>;
  /** Replaces the user's older session, seats and welcomes this one. What the client asks of its seat meanwhile waits. */
  begin(session: Session, arrived: Arrived): Promise<void>;
  end(session: Session): Promise<void>;
}

export function createLifecycle(
  context: ServerContext,
  seating: Seating,
  identification: IdentityService,
  drain: Drain,
  limits: AdvertisedLimits,
): Lifecycle {
  const { engine, io, nodeId, registry, options } = context;

  const turnAway = (): void => {
    if (drain.draining) throw new HandshakeRefused('DRAINING', { retryAfterMs: 0 });
  };

  const admit = async (socket: Socket, address: string) => {
    turnAway();
    const { auth } = socket.handshake;
    // First of all: what else another version says at the door would read as malformed here.
    const version = handshake.shape.v.safeParse(auth['v']);
    if (version.success && version.data !== PROTOCOL_VERSION) throw new HandshakeRefused('VERSION_UNSUPPORTED');
    const read = handshake.safeParse(auth);
    if (!read.success) throw new HandshakeRefused('BAD_REQUEST', { message: 'The handshake’s auth is malformed.' });
    const { headers } = socket.handshake;
    const { userId, name, metadata } = await identification.identify(read.data, address, headers);
    // That may have taken a while.
    turnAway();
    const arrived = await engine.apply({ kind: 'arrive', userId, nodeId, ...(name !== undefined && { name }) });
    const { session: number, connectedAt } = arrived;
    if (socket.conn.readyState !== 'open') {
      // Socket.IO forgets a connection that is gone by now without a word: nobody else would take this back.
      await engine.apply({ kind: 'depart', userId, session: number });
      throw new HandshakeRefused('SESSION_EXPIRED');
    }
    const now = context.clock.now();
    return { session: new Session(socket, { userId, number, connectedAt, now, name, metadata, address }), arrived };
  };

  const replaceOthers = (session: Session, { previous }: Arrived): void => {
    const over = registry.add(session);
    if (over !== undefined) seating.replace(over);
    if (previous?.online !== true || previous.nodeId === nodeId) return;
    engine.fanout.send(previous.nodeId, { kind: 'replaced', userId: session.userId, session: session.number });
  };

  const welcome = (session: Session, resume: string, room: RoomSnapshot | null) =>
    session.push('welcome', {
      v: PROTOCOL_VERSION,
      userId: session.userId,
      session: session.number,
      resume,
      nodeId,
      heartbeatIntervalMs: options.heartbeatIntervalMs,
      limits,
      room,
    });

  /**
   * Takes the seat again and welcomes. `welcome` is the first push, so the socket may not be in the room's channels
   * before it; a stand-in keeps them live meanwhile. What was missed in between is only a revision behind: the client
   * is told and reads the room.
   *
   * @returns whether there was a seat to resume.
   */
  const welcomeBack = async (session: Session, seat: NonNullable<Arrived['seat']>, token: string): Promise<boolean> => {
    const { adapter } = io.of('/');
    const channels = [socketRoom(seat.ref), socketRoomOfMember(seat.ref, session.userId)];
    const standIn = `resume:${session.userId}:${session.number}`;
    await adapter.addAll(standIn, new Set(channels));
    try {
      await Promise.all(channels.map((channel) => engine.fanout.live(channel)));
      const { userId, number } = session;
      const outcome = await engine.apply({ kind: 'resume', ...seat, userId, session: number, nodeId });
      if (!outcome.ok) return false;
      session.restoreProfile(outcome.room);
      session.joinSocketRooms(channels);
      const seated = seating.sit(session, outcome.room);
      welcome(session, token, outcome.room);
      seating.fan(outcome.events);
      await seated;
      tellMissed(session, seat, outcome.room.rev);
      return true;
    } finally {
      adapter.delAll(standIn);
    }
  };

  /** Nobody waits for it: if it fails, the tick tells the revision too. */
  const tellMissed = (session: Session, seat: NonNullable<Arrived['seat']>, rev: number): void => {
    engine.apply({ kind: 'read', ...seat }).then(
      (now) => {
        if (now.ok && now.room.rev > rev) session.push('room:rev', { ...seat, rev: now.room.rev });
      },
      (error: unknown) => context.log.debug({ err: error }, 'a resumed room was not read again'),
    );
  };

  const begin = async (session: Session, arrived: Arrived) => {
    replaceOthers(session, arrived);
    context.log.debug({ userId: session.userId, session: session.number, address: session.address }, 'a session began');
    const token = await identification.issue(session.userId);
    if (arrived.seat === null || !session.connected) return welcome(session, token, null);
    if (await welcomeBack(session, arrived.seat, token)) return;
    welcome(session, token, null);
    seating.stand(session);
  };

  /** The connection is gone: the seat is kept for the grace. A later session's seat is fenced against this. */
  const end = (session: Session) => {
    // At once, so that no signal is handed to a connection that is gone; the rest waits for what is under way.
    registry.remove(session);
    return session.queue.run(async () => {
      registry.remove(session);
      const { userId, number, seatKey } = session;
      context.log.debug({ userId, session: number }, 'a session ended');
      if (seatKey !== undefined) {
        const outcome = await engine.apply({ kind: 'suspend', ...seatKey });
        if (outcome.ok) seating.fan(outcome.events);
      }
      await engine.apply({ kind: 'depart', userId, session: number });
    });
  };

  return {
    admit,
    begin: (session, arrived) => session.queue.run(() => begin(session, arrived)),
    end,
  };
}
