/**
 * What whoever runs a server in a program of its own decides for it: who a client is, who makes a room, who joins one.
 * A hook is not ours: it may hang, throw, or answer nonsense. None of that lets anybody in, and nobody waits for long.
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
import type { Log } from '../../support/log.ts';
import type { Refused } from '../replies.ts';
import { refuse } from '../replies.ts';

/** How long a hook may take; a fault then. */
export const HOOK_MS = 5000;
/** Code points of a reason that are told. */
const REASON_LENGTH = 256;
/**
 * Where there is a hook `authenticate`, ids that the server gives begin so, and no identity may: nobody who is given an
 * id can be given that of an account, and no account can choose that of a guest.
 */
export const GUEST_PREFIX = 'guest-';

type Awaitable<Value> = Value | Promise<Value>;
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is what most hooks are.
type Nothing = void | undefined | null;

/** No, and why. The reason is the message of the error that the client gets; at most 256 characters of it. */
export interface Refusal {
  readonly refuse: string;
}

/** What a client says of itself when it connects, and what is known of it. */
export interface Credentials {
  /** `auth.token` of the handshake: whatever the client has put there, at most 8192 characters. */
  readonly token: string | undefined;
  /** Who a valid resume token of this server says that the client is. */
  readonly resumed: UserId | undefined;
  /** `auth.name` of the handshake. */
  readonly name: string | undefined;
  /** The client's address, cut to its /64 where it is IPv6; behind proxies see `trustedProxies`. */
  readonly address: string;
  /** Those of the HTTP request, with its cookies. */
  readonly headers: IncomingHttpHeaders;
}

export interface Identity {
  /** `^[A-Za-z0-9_-]{1,64}$`, not beginning with `guest-`. Without it the client is who it would be without the hook. */
  readonly userId?: string;
  /** What people read, in place of the name that the client gave. Its member may change it with its profile. */
  readonly name?: string | undefined;
  /** At most 1 KiB of JSON: the member's, until its profile says otherwise. */
  readonly metadata?: Json | undefined;
}

type CreateSettings = Pick<RequestPayload<'room:create'>, 'name' | 'type' | 'maxUsers' | 'access' | 'metadata'>;

/** A user wants a room. */
export interface CreateRequest {
  readonly userId: UserId;
  readonly name: string | undefined;
  /** As they would be: what the client asked for, over the server's defaults. */
  readonly settings: CreateSettings & Required<Pick<CreateSettings, 'type' | 'maxUsers' | 'access'>>;
  /** A client that did not hear the answer asks again with the same key, for the same room. */
  readonly idempotencyKey: string | undefined;
}

/** A user wants a seat in a room. */
export interface JoinRequest {
  readonly userId: UserId;
  readonly name: string | undefined;
  /** As it is now. A copy. */
  readonly room: RoomSnapshot;
}

/** All are optional, and may be async; one that takes longer than 5 seconds or throws is a fault of the server. */
export interface Hooks {
  /**
   * Who is it? Asked for every handshake, also without a token and with a resume token, so that an account that is
   * closed does not come back.
   *
   * @returns an identity; or a refusal, which the client gets as `UNAUTHENTICATED`; or nothing: as without the hook
   */
  authenticate?(asked: Credentials): Awaitable<Identity | Refusal | Nothing>;
  /**
   * May it make a room, and which? Not asked for rooms that a back end makes.
   *
   * @returns nothing; or settings that take the place of those asked for; or a refusal, which the client gets as `FORBIDDEN`
   */
  onCreate?(asked: CreateRequest): Awaitable<{ readonly settings: CreateSettings } | Refusal | Nothing>;
  /**
   * May it join? Asked when the room is found and would have the user; not for who has a seat in it. Whoever has left
   * and comes back is asked for like anybody, the creator too.
   *
   * @returns nothing; or a refusal, which the client gets as `FORBIDDEN`
   */
  onJoin?(asked: JoinRequest): Awaitable<Refusal | Nothing>;
  /** Hears the events that this node commits, in their order, right after they are. Nobody waits for it. */
  onEvent?(event: FeedEvent): Awaitable<unknown>;
}

/** An identity that has been looked at. */
export interface HookIdentity {
  readonly ok: true;
  readonly userId?: UserId | undefined;
  readonly name?: string | undefined;
  /** JSON text. */
  readonly metadata?: string | undefined;
}

/** The hooks as the server asks them: they answer in time and in the right shape, or it is a fault. Undefined where none is given. */
export interface GuardedHooks {
  readonly authenticate: ((asked: Credentials) => Promise<HookIdentity | Refused>) | undefined;
  readonly onCreate: ((asked: CreateRequest) => Promise<{ ok: true; settings: CreateSettings } | Refused>) | undefined;
  readonly onJoin: ((asked: JoinRequest) => Promise<{ ok: true } | Refused>) | undefined;
}

export function guardHooks(hooks: Hooks, clock: Clock, log: Log): GuardedHooks {
  /** @throws what the hook throws, or HookFailed */
  const ask = async <Answer>(name: keyof Hooks, call: () => Awaitable<Answer>): Promise<Answer> =>
    withinTime(clock, name, (async () => call())());

  return {
    authenticate:
      hooks.authenticate &&
      (async (asked) => identify(await ask('authenticate', () => hooks.authenticate?.(asked)), log)),
    onCreate:
      hooks.onCreate &&
      (async (asked) => {
        const answer = read('onCreate', createAnswer, await ask('onCreate', () => hooks.onCreate?.(asked)));
        if (answer.refuse !== undefined) return refusal('FORBIDDEN', answer.refuse, 'You may not make a room.');
        return { ok: true, settings: answer.settings ?? {} };
      }),
    onJoin:
      hooks.onJoin &&
      (async (asked) => {
        const { refuse: why } = read('onJoin', joinAnswer, await ask('onJoin', () => hooks.onJoin?.(asked)));
        return why === undefined ? { ok: true } : refusal('FORBIDDEN', why, 'You may not join this room.');
      }),
  };
}

/** The program's own code did not do what it is there for. */
class HookFailed extends Error {
  override readonly name = 'HookFailed';
}

/** By the clock, as all deadlines of the rules are. What the promise comes to after that is nobody's business. */
export function withinTime<Result>(clock: Clock, name: keyof Hooks, promise: Promise<Result>): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    const stop = clock.after(HOOK_MS, () => reject(new HookFailed(`${name} did not answer within ${HOOK_MS} ms`)));
    void promise.then(resolve, reject).finally(stop);
  });
}

// Strict: who returns false, misspells `refuse`, or gives no reason where there should be one, has not said yes.
const refused = z.strictObject({ refuse: z.string() });
const { name, type, maxUsers, access, metadata: about } = REQUESTS['room:create'].payload.shape;
const settings = z.strictObject({ name, type, maxUsers, access, metadata: about });
const joinAnswer = refused.extend({ refuse: z.string().exactOptional() });
const createAnswer = joinAnswer.extend({ settings: settings.exactOptional() });
const identity = z.strictObject({
  // Not optional as the others are: of an account whose id is undefined nobody knows who it is.
  userId: z
    .string()
    .regex(USER_ID_PATTERN)
    .refine((id) => !id.startsWith(GUEST_PREFIX))
    .transform((id) => id as UserId) // the pattern has just been checked
    .exactOptional(),
  name: displayName.optional(),
  metadata: metadata.optional(),
});

function read<Answer>(hook: keyof Hooks, schema: z.ZodType<Answer>, answer: unknown): Answer {
  const outcome = schema.safeParse(answer ?? {});
  if (outcome.success) return outcome.data;
  throw new HookFailed(`${hook} has answered what it may not: ${z.prettifyError(outcome.error)}`);
}

/** What is wrong with the account is told to its client, who can do something about it; all else is a fault. */
function identify(answer: unknown, log: Log): HookIdentity | Refused {
  const no = refused.safeParse(answer);
  if (no.success) return refusal('UNAUTHENTICATED', no.data.refuse, 'You are not let in.');
  const outcome = identity.safeParse(answer ?? {});
  if (outcome.success) {
    const { metadata: body, ...rest } = outcome.data;
    return { ok: true, ...rest, ...(body !== undefined && { metadata: JSON.stringify(body) }) };
  }
  const field = outcome.error.issues.map(({ path }) => path[0]).find((key) => key !== undefined);
  if (field === undefined) throw new HookFailed(`authenticate has answered what it may not: ${outcome.error.message}`);
  log.warn({ field: String(field) }, 'authenticate has named an identity that cannot be one here');
  return refuse('UNAUTHENTICATED', { message: `The identity’s ${String(field)} is not of the shape it has here.` });
}

function refusal(code: ErrorCode, why: string, otherwise: string): Refused {
  // By code points: half of a pair would be no text any more.
  const told = Array.from(why.slice(0, 2 * REASON_LENGTH))
    .slice(0, REASON_LENGTH)
    .join('')
    .toWellFormed();
  return refuse(code, { message: told === '' ? otherwise : told });
}
