/**
 * The types of the operation table: one row per method of a path. Routes, validation and the OpenAPI document are all
 * derived from the rows, so that they cannot disagree.
 */
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { ErrorCode } from '../../../protocol/errors.ts';
import type { AdminToken, Scope } from '../../auth/admin-tokens.ts';
import type { Refused } from '../../replies.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** The subject of a request in the audit log: a room, references of one type, or a webhook endpoint. Never a code. */
export type AuditSubject = { readonly ref: string } | { readonly itemType: string } | { readonly endpoint: string };

/** An authenticated request with its parsed parts. */
export interface OperationInput<Params, Query, Headers, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  readonly token: AdminToken;
  /** From the header X-Request-Id or generated: correlates the logs of both sides. */
  readonly requestId: string;
  /** Names the subject of the request in the audit log. */
  readonly setSubject: (subject: AuditSubject) => void;
}

/** A success. */
export interface OperationResult<Body> {
  readonly ok: true;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON; absent with 204. */
  readonly body?: Body;
  /** Content in place of `body`, for responses that are too long to be held in memory as a whole. */
  readonly stream?: { readonly type: string; readonly content: Readable };
}

/** The declaration of an operation: its route, schemas and texts. */
export interface OperationSpec<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Headers extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  /** `operationId` of the document: generated clients use it as a function name. */
  readonly id: string;
  readonly method: Method;
  /** Below `/v1`, with the parameters in braces. */
  readonly path: string;
  readonly scope: Scope;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly headers?: Headers;
  readonly body?: Body;
  readonly response: {
    /** Descriptions of the success statuses. */
    readonly statuses: Readonly<Record<number, string>>;
    /** Schema of the body for all of these statuses; without it, they have no body. */
    readonly body?: Response;
    readonly example?: z.input<NoInfer<Response>>;
    /** Descriptions of the response headers. */
    readonly headers?: Readonly<Record<string, string>>;
    /** Examples of the other content types that a client may negotiate. */
    readonly otherTypes?: Readonly<Record<string, string>>;
  };
  /** The 404 code for malformed path parameters; `NOT_FOUND` by default. */
  readonly notFoundCode?: ErrorCode;
  /** Errors in addition to those of every operation. */
  readonly problems: readonly ErrorCode[];
  /** A valid request, for the document. */
  readonly example: {
    readonly params?: z.input<NoInfer<Params>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: z.input<NoInfer<Body>>;
  };
}

/** A row of the table: a declaration and the function that runs it. */
export interface Operation extends OperationSpec {
  run(input: OperationInput<unknown, unknown, unknown, unknown>): Promise<OperationResult<unknown> | Refused>;
}

/** The input of an operation, as its schemas parse it. */
export type InputOf<Spec> =
  Spec extends OperationSpec<infer Params, infer Query, infer Headers, infer Body, z.ZodType>
    ? OperationInput<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>
    : never;

/** Declares an operation; the compiler infers the types of its schemas. */
export const operationSpec = <
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
>(
  spec: OperationSpec<Params, Query, Headers, Body, Response>,
): OperationSpec<Params, Query, Headers, Body, Response> => spec;

/** Joins a declaration with its function, which must take and return what the schemas say. */
export const operation = <
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
>(
  spec: OperationSpec<Params, Query, Headers, Body, Response>,
  run: (
    input: OperationInput<z.output<Params>, z.output<Query>, z.output<Headers>, z.output<Body>>,
  ) => Promise<OperationResult<z.output<Response>> | Refused>,
): Operation => ({ ...spec, run });

export const respond = <Body>(
  status: number,
  body: Body,
  headers: Readonly<Record<string, string>> = {},
): OperationResult<Body> => ({
  ok: true,
  status,
  body,
  headers,
});

export const NO_CONTENT: OperationResult<never> = { ok: true, status: 204 };

// Messages for back ends: the protocol's own texts for these codes address members.
export const SCOPE_NEEDED = 'This needs a token with the scope write.';
export const NO_SUCH_MEMBER = 'No such member is in this room.';

/** Errors of every operation. */
export const COMMON_PROBLEMS = [
  'BAD_REQUEST',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'STORE_UNAVAILABLE',
  'INTERNAL',
] as const satisfies readonly ErrorCode[];

/** Errors of every operation that writes. */
export const WRITE_PROBLEMS = ['DRAINING'] as const satisfies readonly ErrorCode[];
