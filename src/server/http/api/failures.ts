/** What goes wrong before or beside an operation, as a problem. Of what was sent, no value is repeated. */
import type { FastifyError } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { ErrorCode } from '../../../protocol/errors.ts';
import type { Faults } from '../../faults.ts';
import { BODY_BYTES, NoJson } from './body.ts';

export interface Failure {
  readonly code: ErrorCode;
  readonly detail: { readonly message?: string; readonly retryAfterMs?: number; readonly status?: number };
}

/** Thrown where the framework can only be told by an exception. */
export class ApiRefusal extends Error implements Failure {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly detail: Failure['detail'];
  constructor(code: ErrorCode, detail: Failure['detail']) {
    super(detail.message ?? code);
    this.code = code;
    this.detail = detail;
  }
}

/** @param absent what a path answers whose parameters no such thing can have. */
export function failureOf(error: unknown, absent: ErrorCode, faults: Faults): Failure {
  if (error instanceof ApiRefusal) return error;
  if (error instanceof NoJson) return { code: 'BAD_REQUEST', detail: { message: error.message, status: 400 } };
  if (hasZodFastifySchemaValidationErrors(error)) return malformed(error, absent);
  if (isOfFastify(error)) return ofFastify(error);
  return faults(error, 'api');
}

const PLACES: Readonly<Record<string, string>> = { body: 'The body', querystring: 'The query', headers: 'The header' };

type Invalid = Extract<FastifyError, unknown> & { readonly validationContext?: string };

function malformed(error: Invalid & { validation: readonly Issue[] }, absent: ErrorCode): Failure {
  const context = error.validationContext ?? '';
  if (context === 'params') return { code: absent, detail: {} };
  const [issue] = error.validation;
  const place = PLACES[context] ?? 'The request';
  const field = issue === undefined ? '' : issue.instancePath.slice(1).replaceAll('/', '.');
  const what = (issue && unknownField(issue)) ?? issue?.message ?? 'malformed';
  const message = `${field === '' ? place : `${place}, ${field}`}: ${what}`;
  return error.validation.some(isTooLarge)
    ? { code: 'PAYLOAD_TOO_LARGE', detail: { message } }
    : { code: 'BAD_REQUEST', detail: { message, status: UNPROCESSABLE } };
}

const FIELD_LENGTH = 40;

/** The first of them. Its own text would have all, of any length and in any characters. */
function unknownField({ keyword, params }: Issue): string | undefined {
  if (keyword !== 'unrecognized_keys') return undefined;
  const keys: unknown = Reflect.get(Object(params), 'keys');
  const name = Array.isArray(keys) ? String(keys[0]) : '';
  return `unknown field ${JSON.stringify(name.slice(0, FIELD_LENGTH).replaceAll(/[^ -~]/g, '?'))}`;
}

interface Issue {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: unknown;
}

/** Well-formed, and no request all the same. */
export const UNPROCESSABLE = 422;

/** The protocol's own mark, which its schemas of JSON leave on an issue. */
function isTooLarge({ params }: Issue): boolean {
  const inner: unknown = Reflect.get(Object(params), 'params');
  return Reflect.get(Object(inner), 'tooLarge') === true;
}

const isOfFastify = (error: unknown): error is FastifyError & { statusCode: number } =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500;

function ofFastify({ statusCode }: { readonly statusCode: number }): Failure {
  if (statusCode === 413) {
    return { code: 'PAYLOAD_TOO_LARGE', detail: { message: `A body has at most ${BODY_BYTES} bytes.` } };
  }
  if (statusCode === 415) {
    return { code: 'BAD_REQUEST', detail: { message: 'A body is application/json.', status: 415 } };
  }
  return { code: 'BAD_REQUEST', detail: { status: statusCode } };
}
