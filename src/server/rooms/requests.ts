/** The use cases: what each request does. Whatever changes a session's seat runs in the session's queue. */
import type { RequestName, RequestPayload } from '../../protocol/events.ts';
import type { RoomChanges, SeatChanges, SeatKey } from '../../room/commands.ts';
import type { SeatRefusal } from '../../room/outcomes.ts';
import type { ServerContext } from '../context.ts';
import type { Seating } from '../presence/membership.ts';
import { type Refused, type RequestReply, refuse } from '../replies.ts';
import type { IceServers } from '../sessions/ice-servers.ts';
import type { Session } from '../sessions/session.ts';
import type { Entrance, Placed } from './join-room.ts';
import { roomChanges, seatChanges } from './payload-changes.ts';
import type { Relay } from './relay.ts';

/** Requests of one session that may wait for their turn. */
const MAX_QUEUE_LENGTH = 64;
const BUSY_RETRY_MS = 1000;

/** One per request of the table. */
export type RequestHandlers = {
  readonly [Name in RequestName]: (session: Session, payload: RequestPayload<Name>) => Promise<RequestReply<Name>>;
};

export function createRequestHandlers(
  context: ServerContext,
  seating: Seating,
  entrance: Entrance,
  relay: Relay,
  ice: IceServers,
): RequestHandlers {
  const { engine } = context;
  const withIce = (session: Session, placed: Placed | Refused) =>
    placed.ok ? { ...placed, iceServers: ice.issue(session).iceServers } : placed;

  /** The engine does not know the seat that this node thought the session had. */
  const lost = (session: Session, key: SeatKey, { reason }: SeatRefusal): Refused => {
    if (reason === 'SESSION_EXPIRED') return seating.expire(session);
    // With that seat gone already, whoever took it has seen to the channels: the session may be entering them anew.
    if (session.seat?.ref !== key.ref) return refuse(reason);
    if (reason === 'CODE_EXPIRED') {
      seating.outlive(session);
    } else {
      seating.stand(session);
      seating.shut(session, key.ref);
    }
    return refuse(reason);
  };

  const seated =
    <Payload, Result extends { ok: true }>(
      work: (session: Session, key: SeatKey, payload: Payload) => Promise<Result | Refused>,
    ) =>
    async (session: Session, payload: Payload): Promise<Result | Refused> => {
      const key = session.seatKey;
      return key === undefined ? refuse('NOT_IN_ROOM') : work(session, key, payload);
    };

  const get = seated(async (session, key, _payload: RequestPayload<'room:get'>) => {
    const found = await engine.apply({ kind: 'read', code: key.code, ref: key.ref });
    if (!found.ok) return lost(session, key, { ok: false, reason: 'CODE_EXPIRED' });
    if (found.room.members.some(({ userId }) => userId === session.userId)) return { ok: true, room: found.room };
    return lost(session, key, { ok: false, reason: 'NOT_IN_ROOM' });
  });

  const change = async (session: Session, key: SeatKey, to: Parameters<typeof changeCommand>[1]) => {
    const outcome = await engine.apply(changeCommand(key, to));
    if (outcome.ok) seating.fan(outcome.events);
    else if (outcome.reason === 'FORBIDDEN') return refuse('FORBIDDEN');
    else return lost(session, key, outcome);
    return { ok: true, room: outcome.room } as const;
  };

  const update = seated((session, key, payload: RequestPayload<'room:update'>) =>
    change(session, key, { of: 'room', to: roomChanges(payload) }),
  );

  const profile = seated(async (session, key, payload: RequestPayload<'profile'>) => {
    const answer = await change(session, key, { of: 'seat', to: seatChanges(payload) });
    if (!answer.ok) return answer;
    session.updateProfile(payload);
    return { ok: true } as const;
  });

  const kick = seated(async (session, key, { userId, ban = false }: RequestPayload<'room:kick'>) => {
    const outcome = await engine.apply({ kind: 'kick', ...key, target: userId, ban });
    if (outcome.ok) {
      seating.evict(outcome.evicted.map((entry) => ({ ...entry, banned: ban })));
      seating.fan(outcome.events);
      return { ok: true } as const;
    }
    const { reason } = outcome;
    if (reason === 'FORBIDDEN' || reason === 'PEER_NOT_FOUND' || reason === 'CONFLICT') return refuse(reason);
    return lost(session, key, { ok: false, reason });
  });

  const close = seated(async (session, key, _payload: RequestPayload<'room:close'>) => {
    const outcome = await engine.apply({ kind: 'close', ...key });
    if (outcome.ok) {
      // In this order, so that who hears of the end has no seat in that room any more, on whichever node.
      seating.evict(outcome.evicted);
      seating.fan(outcome.events);
      return { ok: true } as const;
    }
    return outcome.reason === 'FORBIDDEN'
      ? refuse('FORBIDDEN')
      : lost(session, key, { ok: false, reason: outcome.reason });
  });

  const leave = async (session: Session): Promise<RequestReply<'room:leave'>> => {
    const key = session.seatKey;
    if (key !== undefined) await seating.leave(session, key);
    return { ok: true };
  };

  const heartbeat = async (session: Session): Promise<RequestReply<'heartbeat'>> => {
    const key = session.seatKey;
    const [now, renewed] = await Promise.all([seating.touch(session), key && engine.apply({ kind: 'renew', ...key })]);
    if (now === undefined) return seating.expire(session);
    if (key === undefined || renewed === undefined) return { ok: true, now, rev: null };
    if (renewed.ok) return { ok: true, now, rev: renewed.rev };
    const refused = lost(session, key, renewed);
    return renewed.reason === 'SESSION_EXPIRED' ? refused : { ok: true, now, rev: null };
  };

  /** What changes the seat waits its turn, but not in a queue that a client can make as long as it likes. */
  const inTurn = <Result>(session: Session, work: () => Promise<Result | Refused>): Promise<Result | Refused> =>
    session.queue.length < MAX_QUEUE_LENGTH
      ? session.queue.run(work)
      : Promise.resolve(refuse('RATE_LIMITED', { retryAfterMs: BUSY_RETRY_MS }));

  return {
    'room:create': (session, payload) =>
      inTurn(session, async () => withIce(session, await entrance.create(session, payload))),
    'room:join': (session, payload) =>
      inTurn(session, async () => withIce(session, await entrance.join(session, payload))),
    'room:leave': (session) => inTurn(session, () => leave(session)),
    'room:close': (session, payload) => inTurn(session, () => close(session, payload)),
    'room:get': get,
    'room:update': update,
    'room:kick': kick,
    profile,
    signal: (session, payload) => relay.signal(session, payload),
    message: (session, payload) => relay.message(session, payload),
    heartbeat,
    ice: async (session) => ({ ok: true, ...ice.issue(session) }),
  };
}

const changeCommand = (
  key: SeatKey,
  change: { readonly of: 'room'; readonly to: RoomChanges } | { readonly of: 'seat'; readonly to: SeatChanges },
) => ({ kind: 'update', ...key, change }) as const;
