/**
 * What the API can do: one entry for each method of a path. Routes, validation and the OpenAPI document are all derived
 * from these, so that none of them can say what another does not.
 */
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { ErrorCode } from '../../../protocol/errors.ts';
import type { AdminToken, Scope } from '../../auth/admin-tokens.ts';
import type { Refused } from '../../replies.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What a request is about, for the log: a room, references of one type, or an endpoint of webhooks. Never a code. */
export type About = { readonly ref: string } | { readonly itemType: string } | { readonly endpoint: string };

/** A request that has been let in and parsed. */
export interface OperationInput<Params, Query, Headers, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  readonly token: AdminToken;
  /** Of the client, or given here: for logs on both sides. */
  readonly requestId: string;
  /** Says it in the log. */
  readonly note: (about: About) => void;
}

/** What is answered when it is not refused. */
export interface OperationResult<Body> {
  readonly ok: true;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON; nothing with 204. */
  readonly body?: Body;
  /** In place of the body: what is too long to be held whole, and what it is. */
  readonly stream?: { readonly type: string; readonly content: Readable };
}

export interface Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Headers extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  /** One word for programs that are generated from the document. */
  readonly id: string;
  readonly method: Method;
  /** Below `/v1`, with the parameters in braces. */
  readonly path: string;
  readonly scope: Scope;
  readonly tag: string;
  readonly summary: string;
  readonly about: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly headers?: Headers;
  readonly body?: Body;
  readonly answer: {
    /** What each status says. */
    readonly statuses: Readonly<Record<number, string>>;
    /** Of all of them; none has a body without it. */
    readonly body?: Answer;
    readonly example?: z.input<NoInfer<Answer>>;
    /** What each of its headers says. */
    readonly headers?: Readonly<Record<string, string>>;
    /** The same in other words: content types with an example each. */
    readonly alsoAs?: Readonly<Record<string, string>>;
  };
  /** What a path answers whose parameters no such thing can have. */
  readonly absent?: ErrorCode;
  /** Beside those that every operation has. */
  readonly problems: readonly ErrorCode[];
  /** A request that makes sense, for the document. */
  readonly example: {
    readonly params?: z.input<NoInfer<Params>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: z.input<NoInfer<Body>>;
  };
  run(
    asked: OperationInput<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>,
  ): Promise<OperationResult<z.output<Answer>> | Refused>;
}

/** Has the compiler infer what the schemas of an entry make of its request and its answer. */
export const operation = <
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
>(
  entry: Operation<Params, Query, Headers, Body, Answer>,
): Operation => entry;

export const done = <Body>(
  status: number,
  body: Body,
  headers: Readonly<Record<string, string>> = {},
): OperationResult<Body> => ({
  ok: true,
  status,
  body,
  headers,
});

export const NOTHING: OperationResult<never> = { ok: true, status: 204 };

// Where the protocol's own text speaks to members.
export const SCOPE_NEEDED = 'This needs a token with the scope write.';
export const NO_SUCH_MEMBER = 'No such member is in this room.';

/** What any operation may be refused with. */
export const COMMON_PROBLEMS = [
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'STORE_UNAVAILABLE',
  'INTERNAL',
] as const satisfies readonly ErrorCode[];

/** What may be refused beside, when something is to change. */
export const WRITE_PROBLEMS = ['DRAINING'] as const satisfies readonly ErrorCode[];
