/** How a session gets a seat: by creating a room, or by joining one. */
import type { RequestPayload } from '../../protocol/events.ts';
import type { RoomCode, RoomRef } from '../../protocol/ids.ts';
import type { Profile, RoomSnapshot } from '../../protocol/snapshot.ts';
import type { Join, JoiningUser, Outcome, Read } from '../../room/commands.ts';
import type { CreateRequest, GuardedHooks } from '../auth/hooks.ts';
import type { ServerContext } from '../context.ts';
import { createGuessLimiter, type GuessLimiter, type Throttled } from '../limits/guess-limiter.ts';
import type { Seating } from '../presence/membership.ts';
import { type Refused, refuse } from '../replies.ts';
import type { Session } from '../sessions/session.ts';
import type { CodeAllocator } from './code-allocator.ts';
import { roomChanges, seatChanges } from './payload-changes.ts';

export type Placed = { readonly ok: true; readonly room: RoomSnapshot };

export interface Entrance {
  create(session: Session, payload: RequestPayload<'room:create'>): Promise<Placed | Refused>;
  join(session: Session, payload: RequestPayload<'room:join'>): Promise<Placed | Refused>;
}

/**
 * Refs are counted, so the next one is easily told: without a bound, all codes could be tried with it. More of them are
 * free than of codes: a class whose room is over asks for it once each.
 */
const FREE_REF_MISSES = 100;

export function createEntrance(
  context: ServerContext,
  seating: Seating,
  allocation: CodeAllocator,
  guesses: GuessLimiter,
  deciders: GuardedHooks,
): Entrance {
  const { engine, options } = context;
  const refGuesses = createGuessLimiter(FREE_REF_MISSES, context.clock, 'CODE_EXPIRED');

  const occupant = (session: Session, profile: Profile | undefined): JoiningUser => {
    if (profile !== undefined) session.updateProfile(profile);
    const { name, metadata } = session;
    return {
      userId: session.userId,
      session: session.number,
      nodeId: context.nodeId,
      profile: {
        ...(metadata !== undefined && { metadata }),
        ...(profile && seatChanges(profile)),
        ...(name !== undefined && { name }),
      },
    };
  };

  const create = async (session: Session, asked: RequestPayload<'room:create'>): Promise<Placed | Refused> => {
    if (!session.connected) return refuse('SESSION_EXPIRED');
    const payload = { type: 'call', maxUsers: options.maxUsers, access: 'open', ...asked } as const;
    const allowed = await deciders.onCreate?.(createRequest(session, payload));
    if (allowed?.ok === false) return allowed;
    // Whoever waits for a hook may be gone meanwhile.
    if (!session.connected) return refuse('SESSION_EXPIRED');
    const settings = { ...payload, ...allowed?.settings };
    // The generator gives what the pattern of a ref asks for.
    const asker = { traceId: `${session.userId}:${session.number}`, name: 'room:create' };
    const ref = (await context.references.generate('room', asker)) as RoomRef;
    const live = seating.open(session, ref);
    // Waited for below, and not at all when there is no room: a store that is known to be away is not waited for.
    live.catch(() => {});
    try {
      const made = await allocation.create({
        ref,
        by: occupant(session, payload.profile),
        settings: { ...roomChanges(settings), ...required(settings) },
        ...(payload.idempotencyKey !== undefined && { idempotencyKey: `${session.userId}:${payload.idempotencyKey}` }),
      });
      if (made.ok) return await settle(session, made.room, live, payload.idempotencyKey !== undefined);
      seating.shut(session, ref);
      if (made.reason === 'POOL_EXHAUSTED') return refuse('POOL_EXHAUSTED', made);
      return await enterRef(session, made.code, made.ref, payload.profile);
    } catch (error) {
      seating.shut(session, ref);
      throw error;
    }
  };

  /** Sits down in the room just made, when its events reach this node; gives it back when they do not. */
  const settle = async (session: Session, room: RoomSnapshot, live: Promise<void>, keyed: boolean): Promise<Placed> => {
    try {
      await live;
    } catch (error) {
      await undo(session, room);
      throw error;
    }
    context.references.record(room.ref);
    await seating.sit(session, room);
    // Nobody heard of the room, unless the client asks again with its key: then it finds its seat kept.
    if (!session.connected && !keyed) await undo(session, room);
    context.log.info({ ref: room.ref, code: context.digest(room.code), by: session.userId }, 'a room was created');
    return { ok: true, room };
  };

  const join = async (session: Session, payload: RequestPayload<'room:join'>): Promise<Placed | Refused> => {
    if (!session.connected) return refuse('SESSION_EXPIRED');
    const { code, profile } = payload;
    if (code.length !== options.codeDigits)
      return refuse('BAD_REQUEST', { message: `A code has ${options.codeDigits} digits.` });
    if (payload.ref !== undefined) return enterRef(session, code, payload.ref, profile);
    const answer = await enterByCode(session, code, profile);
    // The code may have been given to another room between reading and joining: read it once more.
    return isExpired(answer) ? enterByCode(session, code, profile) : answer;
  };

  /**
   * The room is asked first whether it would have the user: whoever enters its channels hears it, and a stranger who is
   * refused a hundred times must not hear a hundred snatches of it.
   */
  const enterByCode = async (session: Session, code: RoomCode, profile: Profile | undefined) => {
    const joiner = session.userId;
    const found = await guesses.attempt(session.address, () => engine.apply({ kind: 'read', code, joiner }));
    return found.ok ? ask(session, found.room, profile) : refuseLook(found);
  };

  /** Asked before anything of the room is taken: who is refused has heard no more of it than that it is there. */
  const ask = async (session: Session, room: RoomSnapshot, profile: Profile | undefined) => {
    const { userId, name } = session;
    if (deciders.onJoin !== undefined && !room.members.some((member) => member.userId === userId)) {
      const verdict = await deciders.onJoin({ userId, name: profile?.name ?? name, room: structuredClone(room) });
      if (!verdict.ok) return verdict;
    }
    return await enter(session, room.code, room.ref, profile);
  };

  const enterRef = async (session: Session, code: RoomCode, ref: RoomRef, profile: Profile | undefined) => {
    // Who sits there already hears the room already.
    if (session.seat?.ref === ref) return enter(session, code, ref, profile);
    const joiner = session.userId;
    const found = await refGuesses.attempt(session.address, () => engine.apply({ kind: 'read', code, ref, joiner }));
    return found.ok ? ask(session, found.room, profile) : refuseLook(found);
  };

  /** Joins that very room: the channels are live before the transition, so no event after the snapshot is missed. */
  const enter = async (
    session: Session,
    code: RoomCode,
    ref: RoomRef,
    profile: Profile | undefined,
  ): Promise<Placed | Refused> => {
    const { seat } = session;
    const seated = seat?.ref === ref;
    // A room has one code: nothing is asked that could cost the seat in that very room.
    if (seated && seat.code !== code) return refuse('CODE_EXPIRED');
    if (!session.connected) return refuse('SESSION_EXPIRED');
    try {
      await seating.open(session, ref);
      const outcome = await engine.apply({ kind: 'join', code, ref, by: occupant(session, profile) });
      if (!outcome.ok) {
        if (seated) seating.stand(session);
        seating.shut(session, ref);
        return outcome.reason === 'SESSION_EXPIRED' ? seating.expire(session) : refuse(outcome.reason);
      }
      await takeSeat(session, outcome, seated);
      return { ok: true, room: outcome.room };
    } catch (error) {
      if (!seated) seating.shut(session, ref);
      throw error;
    }
  };

  const takeSeat = async (
    session: Session,
    { room, events }: Extract<Outcome<Join>, { ok: true }>,
    seated: boolean,
  ) => {
    const sitting = seating.sit(session, room);
    seating.fan(events);
    await sitting;
    // Nobody heard that the join succeeded: the client will not look for this seat.
    if (!session.connected && !seated) await undo(session, room);
  };

  /** Gives back what was taken for nobody. If that fails too, the seat is given up when its lease ends. */
  const undo = (session: Session, { code, ref }: RoomSnapshot) =>
    seating
      .leave(session, { code, ref, userId: session.userId, session: session.number })
      .catch((error: unknown) => context.log.warn({ err: error }, 'a seat taken for nobody was not given back'));

  return { create, join };
}

function createRequest(
  { userId, name }: Session,
  payload: RequestPayload<'room:create'> & CreateRequest['settings'],
): CreateRequest {
  const { profile, idempotencyKey, ...settings } = payload;
  return { userId, name: profile?.name ?? name, settings, idempotencyKey };
}

const required = ({ type, maxUsers, access }: CreateRequest['settings']) => ({ type, maxUsers, access });

function refuseLook(found: Extract<Outcome<Read>, { ok: false }> | Throttled): Refused {
  if (found.reason !== 'RATE_LIMITED') return refuse(found.reason);
  const { retryAfterMs } = found;
  return refuse('RATE_LIMITED', { message: 'Too many wrong codes; wait before the next one.', retryAfterMs });
}

const isExpired = (answer: Placed | Refused): boolean => !answer.ok && answer.error.code === 'CODE_EXPIRED';
