/** HTTP errors: `application/problem+json` with the protocol's codes. */
import type { FastifyReply } from 'fastify';
import { type ErrorCode, type ErrorDetail, errorBody } from '../../protocol/errors.ts';

export const PROBLEM_TYPE = 'application/problem+json';

const STATUS: Partial<Record<ErrorCode, number>> = {
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  ROOM_NOT_FOUND: 404,
  PEER_NOT_FOUND: 404,
  CONFLICT: 409,
  CODE_EXPIRED: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  NOT_CONFIGURED: 501,
  POOL_EXHAUSTED: 503,
  STORE_UNAVAILABLE: 503,
  REFERENCE_UNAVAILABLE: 503,
  DRAINING: 503,
};

export const statusOf = (code: ErrorCode): number => STATUS[code] ?? 500;

/** Fields of a problem in addition to its code. */
interface ProblemDetail extends ErrorDetail {
  /** For HTTP statuses that share one error code of the protocol. */
  readonly status?: number;
}

/** The body of a problem: the fields of RFC 9457, and those of the protocol's errors. */
export function problemBody(code: ErrorCode, { status = statusOf(code), ...detail }: ProblemDetail = {}) {
  const { message, ...body } = errorBody(code, detail);
  return { type: 'about:blank', title: message, status, ...body };
}

export function sendProblem(
  reply: FastifyReply,
  code: ErrorCode,
  detail?: ProblemDetail,
  extra: object = {},
): FastifyReply {
  const body = problemBody(code, detail);
  if (body.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(body.retryAfterMs / 1000));
  return (
    reply
      .code(body.status)
      .type(PROBLEM_TYPE)
      // Caches may keep a 404 or 501 that says nothing about it, and would serve it after its cause has gone.
      .header('cache-control', 'no-store')
      .send({ ...body, ...extra })
  );
}
