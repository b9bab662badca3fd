/** Joining a room, by its code or by its ref. */
import type { RequestPayload } from '../../protocol/events.ts';
import type { RoomCode, RoomRef } from '../../protocol/ids.ts';
import type { Profile, RoomSnapshot } from '../../protocol/snapshot.ts';
import type { Join, JoiningUser, Outcome, Resolve } from '../../room/commands.ts';
import type { SnapshotOutcome } from '../../room/outcomes.ts';
import type { RoomKey } from '../../room/room.ts';
import type { GuardedHooks } from '../auth/hooks.ts';
import type { ServerContext } from '../context.ts';
import type { GuessLimiter, Throttled } from '../limits/guess-limiter.ts';
import { announce } from '../presence/announce.ts';
import { evictedMeanwhile, evictSession } from '../presence/evict-session.ts';
import { clearSeat } from '../presence/local-seat.ts';
import { replaceAndRefuse } from '../presence/replace-session.ts';
import { assignSeat, leaveSeat } from '../presence/seats.ts';
import { subscribe, unsubscribe } from '../presence/subscription.ts';
import { keepUnsettled, settle } from '../presence/unknown-outcomes.ts';
import { type Refused, refuse } from '../replies.ts';
import { hasMember } from '../room-reads.ts';
import type { Session } from '../sessions/session.ts';
import { seatChanges } from './payload-changes.ts';

export interface JoinDeps {
  readonly context: ServerContext;
  readonly hooks: Pick<GuardedHooks, 'onJoin'>;
  /** Wrong codes, by address. */
  readonly codeGuesses: GuessLimiter;
  /** Wrong refs, by address: refs are counted, so the next one is easily guessed, and every code could be tried with it. */
  readonly refGuesses: GuessLimiter;
}

export type JoinedRoom = { readonly ok: true; readonly room: RoomSnapshot };

export async function joinRoom(
  deps: JoinDeps,
  session: Session,
  { code, ref, profile }: RequestPayload<'room:join'>,
): Promise<JoinedRoom | Refused> {
  if (!session.connected) return refuse('SESSION_EXPIRED');
  const { codeDigits } = deps.context.options;
  if (code.length !== codeDigits) return refuse('BAD_REQUEST', { message: `A code has ${codeDigits} digits.` });
  if (ref !== undefined) return joinByRef(deps, session, code, ref, profile);
  const reply = await joinByCode(deps, session, code, profile);
  // Retries once: the code may have been given to another room between the read and the join.
  return isExpired(reply) ? joinByCode(deps, session, code, profile) : reply;
}

/** Joins that very room, or refuses with `CODE_EXPIRED`. */
export async function joinByRef(
  deps: JoinDeps,
  session: Session,
  lastCode: RoomCode,
  ref: RoomRef,
  profile: Profile | undefined,
): Promise<JoinedRoom | Refused> {
  // Who was not connected then does not know the other code that the room was given.
  const code = deps.context.registry.presentCode({ code: lastCode, ref });
  // A member of the room hears it already: nothing to look up, nothing to ask a hook.
  if (session.seat?.ref === ref) return enterRoom(deps.context, session, code, ref, profile);
  return joinResolved(deps, session, { code, ref, guesses: deps.refGuesses }, profile);
}

/** The user of a session, as a command that gives it a seat names it. */
export function joiningUser({ nodeId }: ServerContext, session: Session, profile: Profile | undefined): JoiningUser {
  if (profile !== undefined) session.updateProfile(profile);
  const { name, metadata } = session;
  return {
    userId: session.userId,
    session: session.number,
    nodeId,
    profile: {
      ...(metadata !== undefined && { metadata }),
      ...(profile && seatChanges(profile)),
      ...(name !== undefined && { name }),
    },
  };
}

/** @returns the refusal when the seat has been taken away again before its answer was read. */
export async function sitDown(
  context: ServerContext,
  session: Session,
  outcome: SnapshotOutcome,
  epoch?: number,
): Promise<Refused | undefined> {
  const evicted = await evictedMeanwhile(context, session, outcome.room);
  const assigned = assignSeat(context, session, outcome.room, epoch);
  announce(context, outcome);
  if (evicted !== undefined) evictSession(context, evicted);
  await assigned;
  return evicted && refuse(evicted.reason === 'kicked' ? 'SESSION_EXPIRED' : 'CODE_EXPIRED');
}

/** Gives back a seat whose user, who is gone, never learned of it. */
export function undoSeat(context: ServerContext, session: Session, { code, ref }: RoomKey): Promise<void> {
  const { reattempts, options } = context;
  return reattempts.run(() => leaveSeat(context, session, session.keyOf({ code, ref })), options.graceMs);
}

async function joinByCode(deps: JoinDeps, session: Session, code: RoomCode, profile: Profile | undefined) {
  return joinResolved(deps, session, { code, guesses: deps.codeGuesses }, profile);
}

/**
 * Resolves the code first, with the user as `joiner`, so that a refusal comes before the subscription: a stranger who is
 * refused a hundred times must not receive a hundred moments of the room's events.
 */
async function joinResolved(
  deps: JoinDeps,
  session: Session,
  { guesses, ...room }: Pick<Resolve, 'code' | 'ref'> & { readonly guesses: GuessLimiter },
  profile: Profile | undefined,
): Promise<JoinedRoom | Refused> {
  const { context } = deps;
  const find = () => context.engine.apply({ kind: 'resolve', ...room, joiner: session.userId });
  const found = await guesses.attempt(session.address, find);
  if (!found.ok) return refuseFind(found);
  const key = { code: room.code, ref: found.ref };
  return (await askHook(deps, session, key, profile)) ?? enterRoom(context, session, key.code, key.ref, profile);
}

/** Asks the hook `onJoin` before the subscription, for the same reason. @returns its refusal */
async function askHook(
  { context, hooks }: JoinDeps,
  session: Session,
  key: RoomKey,
  profile: Profile | undefined,
): Promise<Refused | undefined> {
  if (hooks.onJoin === undefined) return undefined;
  const { userId, name } = session;
  const found = await context.reads.read(key);
  if (!found.ok) return refuse(found.reason);
  if (hasMember(found.room, userId)) return undefined;
  // A copy: other readers of this node share the room.
  const verdict = await hooks.onJoin({ userId, name: profile?.name ?? name, room: structuredClone(found.room) });
  return verdict.ok ? undefined : verdict;
}

/** Subscribes, then joins: the subscription is live before the transition, so no event after the snapshot is missed. */
async function enterRoom(
  context: ServerContext,
  session: Session,
  code: RoomCode,
  ref: RoomRef,
  profile: Profile | undefined,
): Promise<JoinedRoom | Refused> {
  const { seat } = session;
  const isMember = seat?.ref === ref;
  // A room has one code: a join with another is refused here, because the engine's refusal would cost the seat.
  if (isMember && seat.code !== code) return refuse('CODE_EXPIRED');
  await settle(session, ref);
  if (!session.connected) return refuse('SESSION_EXPIRED');
  try {
    await subscribe(context, session, ref);
    const outcome = await askForSeat(context, session, { code, ref }, profile);
    if (outcome.ok) return await takeSeat(context, session, outcome, isMember);
    if (isMember) clearSeat(context, session);
    unsubscribe(session, ref);
    return outcome.reason === 'SESSION_EXPIRED' ? replaceAndRefuse(context, session) : refuse(outcome.reason);
  } catch (error) {
    if (!isMember) unsubscribe(session, ref);
    throw error;
  }
}

async function askForSeat(context: ServerContext, session: Session, key: RoomKey, profile: Profile | undefined) {
  const by = joiningUser(context, session, profile);
  try {
    const outcome = await context.engine.apply({ kind: 'join', ...key, by });
    // A refusal tells too: the session has no seat there.
    session.unsettled = undefined;
    return outcome;
  } catch (error) {
    if (session.seat?.ref !== key.ref) {
      const undo = () => leaveSeat(context, session, session.keyOf(key));
      keepUnsettled(context, session, { ref: key.ref, undo });
    }
    throw error;
  }
}

async function takeSeat(
  context: ServerContext,
  session: Session,
  outcome: Extract<Outcome<Join>, { ok: true }>,
  wasMember: boolean,
): Promise<JoinedRoom | Refused> {
  const { room } = outcome;
  const refused = await sitDown(context, session, outcome);
  if (refused !== undefined) return refused;
  // The client never received the reply, so it will not look for this seat.
  if (!session.connected && !wasMember) await undoSeat(context, session, room);
  return { ok: true, room };
}

function refuseFind(found: Extract<Outcome<Resolve>, { ok: false }> | Throttled): Refused {
  if (found.reason !== 'RATE_LIMITED') return refuse(found.reason);
  const { retryAfterMs } = found;
  return refuse('RATE_LIMITED', { message: 'Too many wrong codes; wait before the next one.', retryAfterMs });
}

const isExpired = (reply: JoinedRoom | Refused): boolean => !reply.ok && reply.error.code === 'CODE_EXPIRED';
