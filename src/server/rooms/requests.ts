/** What each request of the protocol does. Requests that change the session's seat run in the session's queue. */
import type { RequestName, RequestPayload } from '../../protocol/events.ts';
import type { SeatKey } from '../../room/commands.ts';
import type { Refusal, SeatRefusal } from '../../room/outcomes.ts';
import type { ServerContext } from '../context.ts';
import type { WithDataText } from '../json/json-text.ts';
import { ENVELOPE_BYTES } from '../limits/prices.ts';
import { handleLostSeat } from '../presence/local-seat.ts';
import { replaceAndRefuse } from '../presence/replace-session.ts';
import { leaveSeat } from '../presence/seats.ts';
import { waitForTraffic } from '../presence/traffic.ts';
import { settle } from '../presence/unknown-outcomes.ts';
import { refreshUser } from '../presence/user-record.ts';
import { type Refused, type RequestReply, refuse, refuseTraffic } from '../replies.ts';
import { hasMember } from '../room-reads.ts';
import type { IceServers } from '../sessions/ice-servers.ts';
import type { Session } from '../sessions/session.ts';
import { type CreateForMemberDeps, createForMember } from './create-room.ts';
import { type JoinedRoom, joinRoom } from './join-room.ts';
import { roomChanges, seatChanges } from './payload-changes.ts';
import { sendMessage, sendSignal } from './relay.ts';
import { closeRoom, kickMember, updateProfile, updateRoom } from './room-service.ts';

/** Requests of one session that may be queued: a client must not make the queue as long as it likes. */
const MAX_QUEUED = 64;
const QUEUE_FULL_RETRY_MS = 1000;

/** One per request of the protocol. */
export type RequestHandlers = {
  readonly [Name in RequestName]: (
    session: Session,
    payload: WithDataText<RequestPayload<Name>>,
  ) => Promise<RequestReply<Name>>;
};

export interface RequestDeps extends CreateForMemberDeps {
  readonly iceServers: IceServers;
}

export function createRequestHandlers(deps: RequestDeps): RequestHandlers {
  const { context, iceServers } = deps;
  return {
    'room:create': queued(async (session, payload) =>
      withIceServers(deps, session, await createForMember(deps, session, payload)),
    ),
    'room:join': queued(async (session, payload) =>
      withIceServers(deps, session, await joinRoom(deps, session, payload)),
    ),
    'room:leave': queued((session) => leave(context, session)),
    'room:get': (session, payload) => withSeat(session, (key) => get(context, session, key, payload)),
    'room:update': (session, payload) => withSeat(session, (key) => update(context, session, key, payload)),
    'room:kick': (session, payload) => withSeat(session, (key) => kick(context, session, key, payload)),
    'room:close': queued((session) => withSeat(session, (key) => close(context, session, key))),
    profile: (session, payload) => withSeat(session, (key) => changeProfile(context, session, key, payload)),
    signal: (session, payload) => withSeat(session, (key) => sendSignal(context, session, key, payload)),
    message: (session, payload) => withSeat(session, (key) => sendMessage(context, key.ref, session.userId, payload)),
    heartbeat: (session) => heartbeat(context, session),
    ice: async (session) => ({ ok: true, ...iceServers.issue(session) }),
  };
}

type Work<Payload, Reply> = (session: Session, payload: Payload) => Promise<Reply>;

const queued =
  <Payload, Reply>(work: Work<Payload, Reply>): Work<Payload, Reply | Refused> =>
  async (session, payload) =>
    session.queue.length < MAX_QUEUED
      ? session.queue.run(() => work(session, payload))
      : refuse('RATE_LIMITED', { retryAfterMs: QUEUE_FULL_RETRY_MS });

const withSeat = async <Reply>(
  { seatKey }: Session,
  work: (key: SeatKey) => Promise<Reply>,
): Promise<Reply | Refused> => (seatKey === undefined ? refuse('NOT_IN_ROOM') : work(seatKey));

const withIceServers = ({ iceServers }: RequestDeps, session: Session, reply: JoinedRoom | Refused) =>
  reply.ok ? { ...reply, iceServers: iceServers.issue(session).iceServers } : reply;

async function leave(context: ServerContext, session: Session) {
  await settle(session);
  const key = session.seatKey;
  if (key !== undefined) await leaveSeat(context, session, key);
  return { ok: true } as const;
}

async function get(context: ServerContext, session: Session, key: SeatKey, { rev }: RequestPayload<'room:get'>) {
  const { code, ref, userId } = key;
  const { reads } = context;
  const found = await (rev === undefined ? reads.read({ code, ref }) : reads.readSince({ code, ref }, { rev, userId }));
  if (!found.ok && found.reason === 'UNCHANGED' && rev !== undefined) return { ok: true, ref, rev } as const;
  if (!found.ok) return handleLostSeat(context, session, key, { ok: false, reason: 'CODE_EXPIRED' });
  const { room } = found;
  if (hasMember(room, userId)) return { ok: true, ref, rev: room.rev, room } as const;
  return handleLostSeat(context, session, key, { ok: false, reason: 'NOT_IN_ROOM' });
}

async function update(context: ServerContext, session: Session, key: SeatKey, payload: RequestPayload<'room:update'>) {
  const retryAfterMs = waitForTraffic(context, key.ref, key.userId, bytesOf(payload));
  if (retryAfterMs > 0) return refuseTraffic(retryAfterMs);
  const outcome = await updateRoom(context, key, roomChanges(payload));
  return outcome.ok ? ({ ok: true, room: outcome.room } as const) : replyToRefusal(context, session, key, outcome);
}

async function changeProfile(
  context: ServerContext,
  session: Session,
  key: SeatKey,
  payload: RequestPayload<'profile'>,
) {
  const retryAfterMs = waitForTraffic(context, key.ref, key.userId, bytesOf(payload));
  if (retryAfterMs > 0) return refuseTraffic(retryAfterMs);
  const outcome = await updateProfile(context, key, seatChanges(payload)).catch((error: unknown) => {
    // The others may see it already, and the client asks for it again: its next room gets it in any case.
    session.updateProfile(payload);
    throw error;
  });
  if (!outcome.ok) return replyToRefusal(context, session, key, outcome);
  session.updateProfile(payload);
  return { ok: true } as const;
}

async function kick(
  context: ServerContext,
  session: Session,
  key: SeatKey,
  { userId, ban = false }: RequestPayload<'room:kick'>,
) {
  const outcome = await kickMember(context, key, userId, ban);
  return outcome.ok ? ({ ok: true } as const) : replyToRefusal(context, session, key, outcome);
}

async function close(context: ServerContext, session: Session, key: SeatKey) {
  const outcome = await closeRoom(context, key);
  return outcome.ok ? ({ ok: true } as const) : replyToRefusal(context, session, key, outcome);
}

async function heartbeat(context: ServerContext, session: Session) {
  const key = session.seatKey;
  const [now, renewed] = await Promise.all([
    refreshUser(context, session),
    key && context.engine.apply({ kind: 'renew', ...key }),
  ]);
  if (now === undefined) return replaceAndRefuse(context, session);
  if (key === undefined || renewed === undefined) return { ok: true, now, rev: null } as const;
  if (renewed.ok) return { ok: true, now, rev: renewed.rev } as const;
  const refused = handleLostSeat(context, session, key, renewed);
  return renewed.reason === 'SESSION_EXPIRED' ? refused : ({ ok: true, now, rev: null } as const);
}

/** The least that the event of a change sends to each member. */
const bytesOf = (changes: object): number => Buffer.byteLength(JSON.stringify(changes)) + ENVELOPE_BYTES;

/** Answers a refusal of the engine; one that says that the seat is lost also clears it on this node. */
function replyToRefusal(
  context: ServerContext,
  session: Session,
  key: SeatKey,
  refusal: SeatRefusal | Refusal<'FORBIDDEN' | 'PEER_NOT_FOUND' | 'CONFLICT'>,
): Refused {
  switch (refusal.reason) {
    case 'FORBIDDEN':
    case 'PEER_NOT_FOUND':
    case 'CONFLICT':
      return refuse(refusal.reason);
    default:
      return handleLostSeat(context, session, key, { ok: false, reason: refusal.reason });
  }
}
