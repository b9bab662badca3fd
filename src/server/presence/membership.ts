/** The steps that taking, changing and losing a seat have in common: channels, events, notices, the user's record. */

import type { NodeMessage } from '../../engine/engine.ts';
import { socketRoom, socketRoomOfMember } from '../../engine/socket-rooms.ts';
import type { NodeId, RoomRef, UserId } from '../../protocol/ids.ts';
import type { RoomInfo } from '../../protocol/snapshot.ts';
import type { SeatKey } from '../../room/commands.ts';
import type { Evicted, RoomEvent } from '../../room/outcomes.ts';
import type { ServerContext } from '../context.ts';
import { type Refused, refuse } from '../replies.ts';
import type { Session } from '../sessions/session.ts';

/**
 * A room's end is told on one channel and to the nodes on another, and a node may find it out by itself before either:
 * the sockets stay in the room for this long, so that whichever comes first, they hear of it.
 */
export const FAREWELL_MS = 1000;

type Banned = Evicted & { readonly banned?: boolean };

export interface Seating {
  /** Enters the channels of a room; resolves when they are live. */
  open(session: Session, ref: RoomRef): Promise<void>;
  shut(session: Session, ref: RoomRef): void;
  /** Notes the seat that the engine has given, and leaves the one the session had before. */
  sit(session: Session, room: Pick<RoomInfo, 'code' | 'ref' | 'rev'>): Promise<void>;
  /** Notes that the session has no seat any more. */
  stand(session: Session): void;
  /** Notes that the session's room has ended. */
  outlive(session: Session): void;
  /** Gives a seat back. Whatever the engine says, the session holds it no longer. */
  leave(session: Session, key: SeatKey): Promise<void>;
  /** Keeps the user's record; resolves to the instant, or to `undefined` when a later session has it. */
  touch(session: Session): Promise<number | undefined>;
  /** Tells the rooms' members, on every node. */
  fan(events: readonly RoomEvent[]): void;
  /** Tells the nodes that hold these sessions. */
  evict(evicted: readonly Banned[]): void;
  /** Ends a session in favour of a later one of the same user. */
  replace(session: Session): void;
  /** Answers a session that is over: a later one of the same user has its place. */
  expire(session: Session): Refused;
  /** Hears what other nodes say. */
  hear(notice: NodeMessage): void;
}

export function createSeating(context: ServerContext): Seating {
  const { engine, io, registry, clock } = context;
  const channels = (ref: RoomRef, userId: UserId) => [socketRoom(ref), socketRoomOfMember(ref, userId)];

  const open = async (session: Session, ref: RoomRef) => {
    const names = channels(ref, session.userId);
    session.joinSocketRooms(names);
    await Promise.all(names.map((name) => engine.fanout.live(name)));
  };

  const shut = (session: Session, ref: RoomRef) => session.leaveSocketRooms(channels(ref, session.userId));

  const touch = async (session: Session) => {
    const { userId, number, connectedAt, seat, name, mediaType } = session;
    session.touchedAt = clock.now();
    const outcome = await engine.apply({
      kind: 'touch',
      userId,
      session: number,
      nodeId: context.nodeId,
      connectedAt,
      seat,
      ...(name !== undefined && { name }),
      ...(mediaType !== undefined && { mediaType }),
    });
    return outcome.ok ? outcome.now : undefined;
  };

  /** The record follows the seat without holding anybody up; the next heartbeat mends what is lost here. */
  const follow = (session: Session) => {
    touch(session).then(
      (now) => {
        // The notice of it may have come before this session was known here.
        if (now === undefined) replace(session);
      },
      (error: unknown) => context.log.debug({ err: error }, 'a user record was not written'),
    );
  };

  const stand = (session: Session) => {
    registry.clearSeat(session);
    if (session.connected) follow(session);
  };

  const fan = (events: readonly RoomEvent[]) => {
    for (const { name, body } of events) {
      // One name picks one body: the compiler does not follow that through the union of events.
      io.to(socketRoom(body.ref)).emit(name, body as never);
      if (name === 'room:closed') context.log.info({ ref: body.ref, reason: body.reason }, 'a room has ended');
    }
  };

  const leave = async (session: Session, key: SeatKey) => {
    const outcome = await engine.apply({ kind: 'leave', ...key });
    if (session.seat?.ref === key.ref) stand(session);
    shut(session, key.ref);
    if (!outcome.ok) return;
    evict(outcome.evicted);
    fan(outcome.events);
  };

  const outlive = (session: Session) => {
    const ref = session.seat?.ref;
    stand(session);
    if (ref !== undefined) clock.after(FAREWELL_MS, () => shut(session, ref));
  };

  const sit = async (session: Session, { code, ref, rev }: Pick<RoomInfo, 'code' | 'ref' | 'rev'>) => {
    const before = session.seatKey;
    // Again even when it is in there: whoever noticed the loss of an earlier seat in this room may have shut them.
    session.joinSocketRooms(channels(ref, session.userId));
    registry.assignSeat(session, { code, ref }, rev);
    follow(session);
    if (before === undefined || before.ref === ref) return;
    // The new seat is taken; an old one that cannot be given back now is given up when its lease ends.
    await leave(session, before).catch((error: unknown) => {
      context.log.warn({ err: error }, 'an old seat was not given back');
      shut(session, before.ref);
    });
  };

  const replace = (session: Session) => {
    session.push('session:replaced', {});
    registry.remove(session);
    // One turn later: what it has just asked is answered first.
    setImmediate(() => session.end());
  };

  const expire = (session: Session) => {
    replace(session);
    return refuse('SESSION_EXPIRED');
  };

  const lose = (entry: Banned) => {
    const session = registry.get(entry.userId);
    if (session?.number !== entry.session || session.seat?.ref !== entry.ref) return;
    const { code, ref } = entry;
    if (entry.reason === 'kicked') {
      stand(session);
      shut(session, ref);
      session.push('session:kicked', { code, ref, banned: entry.banned === true });
      session.end();
    } else if (entry.reason === 'lost') {
      stand(session);
      shut(session, ref);
      session.drop();
    } else {
      outlive(session);
    }
  };

  const evict = (evicted: readonly Banned[]) => {
    const byNode = new Map<NodeId, Banned[]>();
    for (const entry of evicted) {
      const entries = byNode.get(entry.nodeId) ?? [];
      byNode.set(entry.nodeId, [...entries, entry]);
    }
    for (const [nodeId, entries] of byNode) {
      if (nodeId === context.nodeId) for (const entry of entries) lose(entry);
      else engine.fanout.send(nodeId, { kind: 'evicted', evicted: entries });
    }
  };

  const hear = (notice: NodeMessage) => {
    if (notice.kind === 'evicted') {
      for (const entry of notice.evicted) lose(entry);
      return;
    }
    const session = registry.get(notice.userId);
    if (session !== undefined && session.number < notice.session) replace(session);
  };

  return { open, shut, sit, stand, outlive, leave, touch, fan, evict, replace, expire, hear };
}
