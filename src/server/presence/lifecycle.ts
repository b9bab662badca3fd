/** A session's begin and end: handshake, replacement of an older session, welcome, disconnect. */
import type { UserId } from '../../protocol/ids.ts';
import { PROTOCOL_VERSION } from '../../protocol/limits.ts';
import { type AdvertisedLimits, handshake } from '../../protocol/messages.ts';
import type { RoomSnapshot } from '../../protocol/snapshot.ts';
import type { Arrive, Outcome } from '../../room/commands.ts';
import type { ServerContext } from '../context.ts';
import type { AdmissionRate } from '../limits/admission-rate.ts';
import type { ResumeBudget } from '../limits/resume-budget.ts';
import { HandshakeRefused } from '../replies.ts';
import { Session } from '../sessions/session.ts';
import type { Socket } from '../sessions/socket-types.ts';
import type { Drain } from './drain.ts';
import type { IdentityService } from './identity.ts';
import { clearSeat } from './local-seat.ts';
import { replaceSession } from './replace-session.ts';
import { resumeSeat } from './resume-seat.ts';
import { suspendSeat } from './seats.ts';
import { settle } from './unknown-outcomes.ts';

type Arrived = Outcome<Arrive>;

export interface LifecycleDeps {
  readonly context: ServerContext;
  readonly identity: IdentityService;
  readonly drain: Drain;
  readonly limits: AdvertisedLimits;
  readonly resumes: ResumeBudget;
  readonly admissions: AdmissionRate;
}

/** A load balancer may send the client here again: at once would be a loop, and a longer wait a delay at another node. */
const DRAINING_RETRY_MS = 500;

/**
 * Authenticates a handshake and registers the user in the store, before Socket.IO connects the socket.
 *
 * @throws HandshakeRefused
 */
export async function admitConnection(
  { context, identity, drain, resumes, admissions }: LifecycleDeps,
  socket: Socket,
  address: string,
): Promise<{ session: Session; arrived: Arrived }> {
  const auth = readHandshake(socket);
  refuseWhileClosing(drain, auth.resume !== undefined);
  takeAdmission(admissions);
  const { userId, origin, name, metadata } = await identity.identify(auth, address, socket.handshake.headers);
  // Again: a hook may have taken seconds, and the token may be another user's.
  refuseWhileClosing(drain, origin === 'resumed');
  if (origin !== 'new') takeResume(resumes, userId);
  const { engine, nodeId, clock } = context;
  const arrived = await engine.apply({ kind: 'arrive', userId, nodeId, ...(name !== undefined && { name }) });
  const { session: number, connectedAt } = arrived;
  if (socket.conn.readyState !== 'open') {
    // Socket.IO drops a closed connection without a `disconnect` event: only here can the arrival be undone.
    await depart(context, { userId, number });
    throw new HandshakeRefused('SESSION_EXPIRED');
  }
  const options = { userId, number, connectedAt, now: clock.monotonic(), name, metadata, address };
  return { session: new Session(socket, options), arrived };
}

/** Replaces the user's older session, then resumes the seat and sends `welcome`. Requests that change the seat wait. */
export function beginSession(deps: LifecycleDeps, session: Session, arrived: Arrived): Promise<void> {
  return session.queue.run(() => begin(deps, session, arrived));
}

/** The connection is gone: the seat is kept for the grace. The session number fences this against a later session. */
export function endSession(context: ServerContext, session: Session): Promise<void> {
  const { registry, log } = context;
  // At once, so that no signal is written to a closed connection; the rest waits for the request under way.
  registry.remove(session);
  return session.queue.run(async () => {
    registry.remove(session);
    log.debug({ userId: session.userId, session: session.number }, 'a session ended');
    await Promise.all([awayFromSeat(context, session), giveBackUnsettled(context, session), depart(context, session)]);
  });
}

/** Each of the three is tried again while the store does not answer: a later session of the user makes it a refusal. */
async function awayFromSeat(context: ServerContext, { seatKey }: Session): Promise<void> {
  if (seatKey === undefined) return;
  await context.reattempts.run(() => suspendSeat(context, seatKey), context.options.graceMs);
}

/** The room of a create with a key is kept: the client may ask for it over its next connection. */
async function giveBackUnsettled({ reattempts, options }: ServerContext, session: Session): Promise<void> {
  const { unsettled } = session;
  if (unsettled === undefined) return;
  if (unsettled.idempotencyKey === undefined) await reattempts.run(() => settle(session), options.graceMs);
  else if (unsettled.suspend !== undefined) await reattempts.run(unsettled.suspend, options.graceMs);
}

function depart(
  { engine, reattempts, options }: ServerContext,
  { userId, number }: Pick<Session, 'userId' | 'number'>,
): Promise<void> {
  return reattempts.run(() => engine.apply({ kind: 'depart', userId, session: number }), options.graceMs);
}

/**
 * A node that leaves still serves who comes back: a member whose connection blinks would be away for the whole wait, and
 * a load balancer that has not noticed sends it here again. New users can begin elsewhere.
 */
function refuseWhileClosing(drain: Drain, isBack: boolean): void {
  if (drain.draining || (drain.leaving && !isBack))
    throw new HandshakeRefused('DRAINING', { retryAfterMs: DRAINING_RETRY_MS });
}

/** Before a hook or the store is asked. */
function takeAdmission(admissions: AdmissionRate): void {
  const retryAfterMs = admissions.take();
  if (retryAfterMs > 0)
    throw new HandshakeRefused('RATE_LIMITED', {
      message: 'Too many clients connect to this server now.',
      retryAfterMs,
    });
}

/** Before the store is asked. */
function takeResume(resumes: ResumeBudget, userId: UserId): void {
  const retryAfterMs = resumes.take(userId);
  if (retryAfterMs > 0)
    throw new HandshakeRefused('RATE_LIMITED', { message: 'This user connects too often.', retryAfterMs });
}

function readHandshake({ handshake: { auth } }: Socket) {
  // The version first: the rest of another version's handshake may read as malformed.
  const version = handshake.shape.v.safeParse(auth['v']);
  if (version.success && version.data !== PROTOCOL_VERSION) throw new HandshakeRefused('VERSION_UNSUPPORTED');
  const read = handshake.safeParse(auth);
  if (!read.success) throw new HandshakeRefused('BAD_REQUEST', { message: 'The handshake’s auth is malformed.' });
  return read.data;
}

async function begin(deps: LifecycleDeps, session: Session, arrived: Arrived): Promise<void> {
  const { context, identity } = deps;
  const { userId, number, address } = session;
  replaceOlderSession(context, session, arrived);
  context.log.debug({ userId, session: number, address }, 'a session began');
  const token = await identity.issueResumeToken(userId);
  // A later session has replaced it already: `session:replaced` was its last push.
  if (context.registry.get(userId) !== session) return;
  const welcome = (room: RoomSnapshot | null) => sendWelcome(deps, session, token, room);
  if (arrived.seat === null || !session.connected) return welcome(null);
  if (await resumeSeat(context, session, arrived.seat, welcome)) return;
  welcome(null);
  clearSeat(context, session);
}

function replaceOlderSession(context: ServerContext, session: Session, { previous }: Arrived): void {
  const older = context.registry.add(session);
  if (older !== undefined) replaceSession(context, older);
  if (previous?.online !== true || previous.nodeId === context.nodeId) return;
  const { userId, number } = session;
  context.engine.fanout.send(previous.nodeId, { kind: 'replaced', userId, session: number });
}

function sendWelcome(
  { context: { nodeId, options }, limits }: LifecycleDeps,
  session: Session,
  resume: string,
  room: RoomSnapshot | null,
): void {
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
}
