/** HTTP errors: `application/problem+json` with the protocol's codes. */
import type { FastifyReply } from 'fastify';
import { type ErrorCode, type ErrorDetail, errorBody } from '../../protocol/errors.ts';

const STATUS: Partial<Record<ErrorCode, number>> = {
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  ROOM_NOT_FOUND: 404,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  STORE_UNAVAILABLE: 503,
  DRAINING: 503,
};

export function sendProblem(
  reply: FastifyReply,
  code: ErrorCode,
  detail?: ErrorDetail,
  extra: object = {},
): FastifyReply {
  const { message, ...body } = errorBody(code, detail);
  const status = STATUS[code] ?? 500;
  if (body.retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(body.retryAfterMs / 1000));
  return reply
    .code(status)
    .type('application/problem+json')
    .send({ type: 'about:blank', title: message, status, ...body, ...extra });
}
