/**
 * Hooks: decisions of the program that embeds the server, on the identity of clients, the creation of rooms, and joins.
 * A hook is foreign code that may hang, throw, or return invalid values: each of these refuses the request, after a time
 * limit at the latest.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { ErrorCode } from '../../protocol/errors.ts';
import type { RequestPayload } from '../../protocol/events.ts';
import type { FeedEvent } from '../../protocol/feed.ts';
import { USER_ID_PATTERN, type UserId } from '../../protocol/ids.ts';
import { REQUESTS } from '../../protocol/messages.ts';
import { displayName, type Json, metadata, type RoomSnapshot } from '../../protocol/snapshot.ts';
import type { Clock } from '../../support/clock.ts';
import { withDeadline } from '../../support/deadline.ts';
import type { Log } from '../../support/log.ts';
import type { Refused } from '../replies.ts';
import { refuse } from '../replies.ts';

/** Time limit of a hook; exceeding it is a fault. */
export const HOOK_MS = 5000;
/** Code points of a reason that are sent to the client. */
const MAX_REASON_LENGTH = 256;
/**
 * Prefix of ids that the server assigns when there is a hook `authenticate`. Identities may not use it, so ids of guests
 * and of accounts never collide.
 */
export const GUEST_PREFIX = 'guest-';

type Awaitable<Value> = Value | Promise<Value>;
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is what most hooks are.
type Nothing = void | undefined | null;

/** A refusal with its reason. The client receives the first 256 characters as the message of the error. */
export interface Refusal {
  readonly refuse: string;
}

/** Input of `authenticate`: the data that a client sends in its handshake, and its address. */
export interface Credentials {
  /** `auth.token` of the handshake, unverified; at most 8192 characters. */
  readonly token: string | undefined;
  /** The user named by a valid resume token of this server. */
  readonly resumed: UserId | undefined;
  /** `auth.name` of the handshake. */
  readonly name: string | undefined;
  /** The client's address; of an IPv6 address, its /64 prefix. Behind proxies see `trustedProxies`. */
  readonly address: string;
  /** Headers of the HTTP request, cookies included. */
  readonly headers: IncomingHttpHeaders;
}

export interface Identity {
  /** `^[A-Za-z0-9_-]{1,64}$`, not beginning with `guest-`. Without it, the id is chosen as without the hook. */
  readonly userId?: string;
  /** Display name, in place of the one in the handshake. The member may change it by a profile update. */
  readonly name?: string | undefined;
  /** Initial metadata of the member, at most 1 KiB of JSON. The member may change it by a profile update. */
  readonly metadata?: Json | undefined;
}

type CreateSettings = Pick<RequestPayload<'room:create'>, 'name' | 'type' | 'maxUsers' | 'access' | 'metadata'>;

/** Input of `onCreate`: a user asks to create a room. */
export interface CreateRequest {
  readonly userId: UserId;
  readonly name: string | undefined;
  /** The requested settings, completed with the server's defaults. */
  readonly settings: CreateSettings & Required<Pick<CreateSettings, 'type' | 'maxUsers' | 'access'>>;
  /** A client repeats a request that was not answered with the same key, and gets the same room. */
  readonly idempotencyKey: string | undefined;
}

/** Input of `onJoin`: a user asks to join a room. */
export interface JoinRequest {
  readonly userId: UserId;
  readonly name: string | undefined;
  /** A copy of the current state. */
  readonly room: RoomSnapshot;
}

/** All hooks are optional and may be async. A hook that throws or takes longer than 5 seconds is a fault of the server. */
export interface Hooks {
  /**
   * Determines the identity of a client. Called for every handshake, also without a token and with a resume token, so
   * that a closed account cannot return.
   *
   * @returns an identity; or a refusal, which the client receives as `UNAUTHENTICATED`; or nothing, to proceed as without the hook
   */
  authenticate?(request: Credentials): Awaitable<Identity | Refusal | Nothing>;
  /**
   * Decides on the creation of a room. Not called for rooms that a back end creates.
   *
   * @returns nothing, to allow it; or settings in place of the requested ones; or a refusal, which the client receives as `FORBIDDEN`
   */
  onCreate?(request: CreateRequest): Awaitable<{ readonly settings: CreateSettings } | Refusal | Nothing>;
  /**
   * Decides on a join. Called when the room exists and would accept the user, but not for a user that has a seat in it.
   * Called again for a user that has left and joins again, the creator included.
   *
   * @returns nothing, to allow it; or a refusal, which the client receives as `FORBIDDEN`
   */
  onJoin?(request: JoinRequest): Awaitable<Refusal | Nothing>;
  /** Called with each event that this node commits, in order, right after the commit. The server does not wait for it. */
  onEvent?(event: FeedEvent): Awaitable<unknown>;
}

/** A validated identity. */
export interface HookIdentity {
  readonly ok: true;
  readonly userId?: UserId | undefined;
  readonly name?: string | undefined;
  /** JSON text. */
  readonly metadata?: string | undefined;
}

/** Hooks with a time limit and validated results; violations are faults. Undefined where the program has no such hook. */
export interface GuardedHooks {
  readonly authenticate: ((request: Credentials) => Promise<HookIdentity | Refused>) | undefined;
  readonly onCreate:
    | ((request: CreateRequest) => Promise<{ ok: true; settings: CreateSettings } | Refused>)
    | undefined;
  readonly onJoin: ((request: JoinRequest) => Promise<{ ok: true } | Refused>) | undefined;
}

export function guardHooks(hooks: Hooks, clock: Clock, log: Log): GuardedHooks {
  /** @throws what the hook throws, or HookFailed */
  const ask = async <Answer>(name: keyof Hooks, call: () => Awaitable<Answer>): Promise<Answer> =>
    withinTime(clock, name, (async () => call())());

  return {
    authenticate:
      hooks.authenticate &&
      (async (request) => readIdentity(await ask('authenticate', () => hooks.authenticate?.(request)), log)),
    onCreate:
      hooks.onCreate &&
      (async (request) => {
        const answer = read('onCreate', createResult, await ask('onCreate', () => hooks.onCreate?.(request)));
        if (answer.refuse !== undefined) return refuseWith('FORBIDDEN', answer.refuse, 'You may not create a room.');
        return { ok: true, settings: answer.settings ?? {} };
      }),
    onJoin:
      hooks.onJoin &&
      (async (request) => {
        const { refuse: reason } = read('onJoin', joinResult, await ask('onJoin', () => hooks.onJoin?.(request)));
        return reason === undefined ? { ok: true } : refuseWith('FORBIDDEN', reason, 'You may not join this room.');
      }),
  };
}

/** A hook took too long or returned an invalid value. */
class HookFailed extends Error {
  override readonly name = 'HookFailed';
}

/** Rejects when the hook has not settled within the time limit. Its later result is ignored. */
export function withinTime<Result>(clock: Clock, name: keyof Hooks, promise: Promise<Result>): Promise<Result> {
  const late = () => new HookFailed(`${name} did not answer within ${HOOK_MS} ms`);
  return withDeadline(promise, HOOK_MS, late, clock);
}

// Strict: `false`, a misspelt `refuse`, or a refusal without a reason must not count as permission.
const refusalResult = z.strictObject({ refuse: z.string() });
const { name, type, maxUsers, access, metadata: metadataSetting } = REQUESTS['room:create'].payload.shape;
const settings = z.strictObject({ name, type, maxUsers, access, metadata: metadataSetting });
const joinResult = refusalResult.extend({ refuse: z.string().exactOptional() });
const createResult = joinResult.extend({ settings: settings.exactOptional() });
const identityResult = z.strictObject({
  // exactOptional: an explicit undefined is a bug in the hook, such as a missing property of an account.
  userId: z
    .string()
    .regex(USER_ID_PATTERN)
    .refine((id) => !id.startsWith(GUEST_PREFIX))
    .transform((id) => id as UserId) // cast: the pattern has just been checked
    .exactOptional(),
  name: displayName.optional(),
  metadata: metadata.optional(),
});

function read<Answer>(hook: keyof Hooks, schema: z.ZodType<Answer>, answer: unknown): Answer {
  const outcome = schema.safeParse(answer ?? {});
  if (outcome.success) return outcome.data;
  throw new HookFailed(`${hook} returned an invalid value: ${z.prettifyError(outcome.error)}`);
}

/** An invalid field of an identity is reported to the client, who may be able to change it; every other mistake is a fault. */
function readIdentity(answer: unknown, log: Log): HookIdentity | Refused {
  const refusal = refusalResult.safeParse(answer);
  if (refusal.success) return refuseWith('UNAUTHENTICATED', refusal.data.refuse, 'The server refuses this client.');
  const outcome = identityResult.safeParse(answer ?? {});
  if (outcome.success) {
    const { metadata: body, ...rest } = outcome.data;
    return { ok: true, ...rest, ...(body !== undefined && { metadata: JSON.stringify(body) }) };
  }
  const field = outcome.error.issues.map(({ path }) => path[0]).find((key) => key !== undefined);
  if (field === undefined) throw new HookFailed(`authenticate returned an invalid value: ${outcome.error.message}`);
  log.warn({ field: String(field) }, 'the hook authenticate returned an identity with an invalid field');
  return refuse('UNAUTHENTICATED', { message: `The field ${String(field)} of the identity is invalid.` });
}

function refuseWith(code: ErrorCode, reason: string, defaultMessage: string): Refused {
  // By code points, so that no surrogate pair is cut in half.
  const message = Array.from(reason.slice(0, 2 * MAX_REASON_LENGTH))
    .slice(0, MAX_REASON_LENGTH)
    .join('')
    .toWellFormed();
  return refuse(code, { message: message === '' ? defaultMessage : message });
}
