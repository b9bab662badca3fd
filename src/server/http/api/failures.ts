/** Maps errors outside of operations to problems. The texts never repeat a value from the request. */
import type { FastifyError } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { ErrorCode } from '../../../protocol/errors.ts';
import type { Faults } from '../../faults.ts';
import { BODY_BYTES, MalformedJson } from './body.ts';

export interface Failure {
  readonly code: ErrorCode;
  readonly detail: { readonly message?: string; readonly retryAfterMs?: number; readonly status?: number };
}

/** A refusal as an exception, for places where the framework accepts nothing else. */
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

/** @param notFoundCode for malformed path parameters. */
export function failureOf(error: unknown, notFoundCode: ErrorCode, faults: Faults): Failure {
  if (error instanceof ApiRefusal) return error;
  if (error instanceof MalformedJson) return { code: 'BAD_REQUEST', detail: { message: error.message, status: 400 } };
  if (hasZodFastifySchemaValidationErrors(error)) return invalidRequest(error, notFoundCode);
  if (isFastifyError(error)) return fastifyFailure(error);
  return faults(error, 'api');
}

const LOCATIONS: Readonly<Record<string, string>> = {
  body: 'The body',
  querystring: 'The query',
  headers: 'The header',
};

type ValidationError = Extract<FastifyError, unknown> & { readonly validationContext?: string };

function invalidRequest(error: ValidationError & { validation: readonly Issue[] }, notFoundCode: ErrorCode): Failure {
  const context = error.validationContext ?? '';
  if (context === 'params') return { code: notFoundCode, detail: {} };
  const [issue] = error.validation;
  const location = LOCATIONS[context] ?? 'The request';
  const field = issue === undefined ? '' : issue.instancePath.slice(1).replaceAll('/', '.');
  const reason = (issue && unknownField(issue)) ?? issue?.message ?? 'malformed';
  const message = `${field === '' ? location : `${location}, ${field}`}: ${reason}`;
  return error.validation.some(isTooLarge)
    ? { code: 'PAYLOAD_TOO_LARGE', detail: { message } }
    : { code: 'BAD_REQUEST', detail: { message, status: UNPROCESSABLE } };
}

const MAX_FIELD_LENGTH = 40;

/** Names the first unknown field, shortened to printable ASCII: zod's own text repeats all of them in full. */
function unknownField({ keyword, params }: Issue): string | undefined {
  if (keyword !== 'unrecognized_keys') return undefined;
  const keys: unknown = Reflect.get(Object(params), 'keys');
  const name = Array.isArray(keys) ? String(keys[0]) : '';
  return `unknown field ${JSON.stringify(name.slice(0, MAX_FIELD_LENGTH).replaceAll(/[^ -~]/g, '?'))}`;
}

interface Issue {
  readonly instancePath: string;
  readonly keyword: string;
  readonly message?: string;
  readonly params: unknown;
}

/** Well-formed JSON or query, but invalid for the operation. */
export const UNPROCESSABLE = 422;

/** The mark `tooLarge` is set by the protocol's schemas of JSON. */
function isTooLarge({ params }: Issue): boolean {
  const inner: unknown = Reflect.get(Object(params), 'params');
  return Reflect.get(Object(inner), 'tooLarge') === true;
}

const isFastifyError = (error: unknown): error is FastifyError & { statusCode: number } =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500;

function fastifyFailure({ statusCode }: { readonly statusCode: number }): Failure {
  if (statusCode === 413) {
    return { code: 'PAYLOAD_TOO_LARGE', detail: { message: `The body may have at most ${BODY_BYTES} bytes.` } };
  }
  if (statusCode === 415) {
    return { code: 'BAD_REQUEST', detail: { message: 'The body must be application/json.', status: 415 } };
  }
  return { code: 'BAD_REQUEST', detail: { status: statusCode } };
}
