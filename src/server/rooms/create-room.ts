/** Creating a room: for a member, who takes its first seat and is its host, or for the owner of the server. */
import type { RequestPayload } from '../../protocol/events.ts';
import type { RoomRef } from '../../protocol/ids.ts';
import type { RoomSnapshot } from '../../protocol/snapshot.ts';
import type { JoiningUser } from '../../room/commands.ts';
import { shardOf } from '../../room/pool.ts';
import type { CreateRequest, GuardedHooks } from '../auth/hooks.ts';
import type { ServerContext } from '../context.ts';
import { suspendSeat } from '../presence/seats.ts';
import { subscribe, unsubscribe } from '../presence/subscription.ts';
import { keepUnsettled, settle } from '../presence/unknown-outcomes.ts';
import { type Refused, refuse } from '../replies.ts';
import type { Session } from '../sessions/session.ts';
import { type AllocationResult, type CodeAllocator, CreateUnknown } from './code-allocator.ts';
import { type JoinDeps, type JoinedRoom, joinByRef, joiningUser, sitDown, undoSeat } from './join-room.ts';
import { roomChanges } from './payload-changes.ts';
import { closeRoom } from './room-service.ts';
import { undoCreate } from './undo-create.ts';

export interface CreateDeps {
  readonly context: ServerContext;
  readonly allocator: CodeAllocator;
}

export interface CreateForMemberDeps extends CreateDeps, JoinDeps {
  readonly hooks: Pick<GuardedHooks, 'onCreate' | 'onJoin'>;
}

type Payload = RequestPayload<'room:create'>;
type Settings = Pick<Payload, 'name' | 'type' | 'maxUsers' | 'access' | 'metadata'>;
/** The client of a reference, as the ledger records it. */
interface Asker {
  readonly traceId: string;
  readonly name: string;
}

export async function createForMember(
  deps: CreateForMemberDeps,
  session: Session,
  payload: Payload,
): Promise<JoinedRoom | Refused> {
  const { context } = deps;
  if (!session.connected) return refuse('SESSION_EXPIRED');
  const allowed = await deps.hooks.onCreate?.(createRequest(context, session, payload));
  if (allowed?.ok === false) return allowed;
  // The client may have gone while the hook decided.
  if (!session.connected) return refuse('SESSION_EXPIRED');
  await settleBefore(session, payload);
  const asker = { traceId: `${session.userId}:${session.number}`, name: 'room:create' };
  const ref = await issueRef(context, asker);
  const live = subscribe(context, session, ref);
  // Awaited only once there is a room, so a refusal does not wait for it: a rejection before that is no fault.
  live.catch(() => {});
  try {
    const created = await allocate(deps, ref, {
      by: joiningUser(context, session, payload.profile),
      settings: { ...payload, ...allowed?.settings },
      idempotencyKey: payload.idempotencyKey && `${session.userId}:${payload.idempotencyKey}`,
    });
    if (created.ok) return await takeFirstSeat(context, session, created.room, live, payload);
    unsubscribe(session, ref);
    if (created.reason === 'POOL_EXHAUSTED') return refuse('POOL_EXHAUSTED', created);
    return await joinByRef(deps, session, created.code, created.ref, payload.profile);
  } catch (error) {
    unsubscribe(session, ref);
    if (error instanceof CreateUnknown) {
      const undo = () => undoCreate(context, context.pool, error.command);
      keepUnsettled(context, session, { ref, undo, ...withKey(payload) });
    }
    throw error;
  }
}

/** A repetition with the same key finds the room of the first, if there is one. */
async function settleBefore(session: Session, { idempotencyKey }: Payload): Promise<void> {
  const repeated = session.unsettled?.idempotencyKey;
  if (repeated === undefined || repeated !== idempotencyKey) await settle(session);
}

const withKey = ({ idempotencyKey }: Payload) => (idempotencyKey === undefined ? {} : { idempotencyKey });

/**
 * Creates a room without a seat in it; the first member to join becomes its host.
 *
 * @param owner the name of the owner's token, to which an idempotency key belongs.
 */
export async function createForOwner(
  deps: CreateDeps,
  owner: { readonly name: string; readonly requestId: string; readonly idempotencyKey: string | undefined },
  settings: Settings,
): Promise<AllocationResult> {
  const by = `api:${owner.name}`;
  const ref = await issueRef(deps.context, { traceId: owner.requestId, name: by });
  // A user id has no colon: the idempotencyKey of a user is never equal to one of these.
  const idempotencyKey = owner.idempotencyKey && `${by}:${owner.idempotencyKey}`;
  const created = await allocate(deps, ref, { settings, idempotencyKey }).catch((error: unknown) => {
    const { reattempts, options } = deps.context;
    // Its empty room would end by itself after `roomEmptyMs`. With a key, the back end asks again and finds it.
    if (error instanceof CreateUnknown && idempotencyKey === undefined)
      reattempts.add(() => undoCreate(deps.context, deps.context.pool, error.command), options.roomEmptyMs);
    throw error;
  });
  if (created.ok) recordCreated(deps.context, created.room, by);
  return created;
}

/** The generator's references are of the pattern of a ref. */
const issueRef = async ({ references }: ServerContext, asker: Asker): Promise<RoomRef> =>
  (await references.generate('room', asker)) as RoomRef;

function allocate(
  { context, allocator }: CreateDeps,
  ref: RoomRef,
  room: { readonly settings: Settings; readonly by?: JoiningUser; readonly idempotencyKey: string | undefined },
): Promise<AllocationResult> {
  const { by, idempotencyKey } = room;
  const { type, maxUsers, access, ...settings } = withDefaults(context, room.settings);
  return allocator.create({
    ref,
    settings: { ...roomChanges(settings), type, maxUsers, access },
    ...(by !== undefined && { by }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
}

const withDefaults = <Given extends Settings>({ options }: ServerContext, given: Given) =>
  ({ type: 'call', maxUsers: options.maxUsers, access: 'open', ...given }) as const;

function createRequest(
  context: ServerContext,
  { userId, name }: Session,
  { profile, idempotencyKey, ...settings }: Payload,
): CreateRequest {
  return { userId, name: profile?.name ?? name, settings: withDefaults(context, settings), idempotencyKey };
}

/** Seats the creator once events of the room reach this node; closes the room when they do not. */
async function takeFirstSeat(
  context: ServerContext,
  session: Session,
  room: RoomSnapshot,
  live: Promise<void>,
  payload: Payload,
): Promise<JoinedRoom | Refused> {
  const { code, ref } = room;
  // The store may lose the room while its events are waited for: then it is restored like every other.
  const epoch = context.registry.epochOf(shardOf(room.code));
  try {
    await live;
  } catch (error) {
    const undo = () => closeRoom(context, { code, ref, owner: true });
    const suspend = () => suspendSeat(context, session.keyOf({ code, ref }));
    keepUnsettled(context, session, { ref, undo, suspend, ...withKey(payload) });
    throw error;
  }
  recordCreated(context, room, session.userId);
  const refused = await sitDown(context, session, { ok: true, room, events: [] }, epoch);
  if (refused !== undefined) return refused;
  // The client never received the reply; with a key it asks again, and then finds its seat.
  if (!session.connected && payload.idempotencyKey === undefined) await undoSeat(context, session, room);
  return { ok: true, room };
}

function recordCreated({ references, log, digest }: ServerContext, { code, ref }: RoomSnapshot, by: string): void {
  references.record(ref);
  log.info({ ref, code: digest(code), by }, 'a room was created');
}
