/** Replies to requests: success or a refusal. */
import { ERRORS, type ErrorCode, type ErrorDetail, errorBody } from '../protocol/errors.ts';
import type { Reply, RequestName } from '../protocol/events.ts';

export interface Refused {
  readonly ok: false;
  readonly error: ReturnType<typeof errorBody>;
}

/** Content of an acknowledgement. A refusal is a value, not an exception. */
export type RequestReply<Name extends RequestName> = ({ ok: true } & Reply<Name>) | Refused;

export const refuse = (code: ErrorCode, detail?: ErrorDetail): Refused => ({
  ok: false,
  error: errorBody(code, detail),
});

/** For a message or a change that would go to all members of a room. */
export const refuseTraffic = (retryAfterMs: number): Refused =>
  refuse('RATE_LIMITED', { message: 'The members of this room send too much.', retryAfterMs });

/** Thrown in Socket.IO middlewares: the client receives `data` with `connect_error`. */
export class HandshakeRefused extends Error {
  override readonly name = 'HandshakeRefused';
  readonly data: ReturnType<typeof errorBody>;
  constructor(code: ErrorCode, detail?: ErrorDetail) {
    super(detail?.message ?? ERRORS[code].message);
    this.data = errorBody(code, detail);
  }
}
