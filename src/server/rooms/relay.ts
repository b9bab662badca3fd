/** Hands signals and messages on. A signal to a member on this node touches nothing but the two connections. */

import type { Engine } from '../../engine/engine.ts';
import { socketRoom, socketRoomOfMember } from '../../engine/socket-rooms.ts';
import type { RequestPayload } from '../../protocol/events.ts';
import type { RoomRef, UserId } from '../../protocol/ids.ts';
import type { Json } from '../../protocol/snapshot.ts';
import type { SeatKey } from '../../room/commands.ts';
import { StoreUnavailable } from '../../support/store.ts';
import type { ServerContext } from '../context.ts';
import { type RequestReply, refuse } from '../replies.ts';
import type { Session } from '../sessions/session.ts';

export interface Relay {
  signal(session: Session, payload: RequestPayload<'signal'>): Promise<RequestReply<'signal'>>;
  message(session: Session, payload: RequestPayload<'message'>): Promise<RequestReply<'message'>>;
  /**
   * Says something to everyone in a room, on every node.
   *
   * @param from null: the server itself.
   * @throws StoreUnavailable when it would not leave this node, or did not.
   */
  say(ref: RoomRef, from: UserId | null, data: Json): Promise<void>;
}

export function createRelay({ engine, io, registry }: ServerContext): Relay {
  const { fanout } = engine;

  const say = async (ref: RoomRef, from: UserId | null, data: Json): Promise<void> => {
    const send = () => void io.to(socketRoom(ref)).emit('message', { from, data, ref });
    // Refused before anybody has it: a client that tries again would say it twice to those on this node.
    if (engine.health().state !== 'up') throw new StoreUnavailable('the message would not leave this node');
    // How many nodes hear it is nothing to anybody. It is asked only so that what did not leave this node is refused.
    await fanout.countReceivers(send);
  };

  return {
    say,

    async signal(session, { to, data }) {
      const key = session.seatKey;
      if (key === undefined) return refuse('NOT_IN_ROOM');
      const body = { from: session.userId, data, ref: key.ref };
      const target = registry.member(key.ref, to);
      if (target !== undefined) {
        target.push('signal', body);
        if (target !== session) registry.countSignal(key.ref);
        return { ok: true };
      }
      const send = () => void io.to(socketRoomOfMember(key.ref, to)).emit('signal', body);
      if ((await fanout.countReceivers(send)) === 0) return whyNot(engine, key, to);
      registry.countSignal(key.ref);
      return { ok: true };
    },

    async message(session, { data }) {
      const ref: RoomRef | undefined = session.seat?.ref;
      if (ref === undefined) return refuse('NOT_IN_ROOM');
      await say(ref, session.userId, data);
      return { ok: true };
    },
  };
}

/** Why nobody has received a signal: nobody of that name, or away. */
async function whyNot(engine: Engine, { code, ref }: SeatKey, to: UserId): Promise<RequestReply<'signal'>> {
  const found = await engine.apply({ kind: 'read', code, ref });
  if (!found.ok) return refuse('NOT_IN_ROOM');
  return refuse(found.room.members.some(({ userId }) => userId === to) ? 'PEER_AWAY' : 'PEER_NOT_FOUND');
}
