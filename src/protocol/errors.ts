/**
 * The error codes, a closed list: a client may switch over it. `retryable` says whether the same request, sent again
 * unchanged, may succeed; `retryAfterMs`, in errors that have it, says when.
 */

interface ErrorEntry {
  readonly message: string;
  readonly retryable: boolean;
  /** Part of the protocol, but not sent by this version: clients can handle it already. */
  readonly reserved?: true;
}

export const ERRORS = {
  BAD_REQUEST: { message: 'The request is malformed.', retryable: false },
  UNAUTHENTICATED: { message: 'The token is missing or not valid.', retryable: false },
  FORBIDDEN: { message: 'Only the host of the room may do this.', retryable: false },
  VERSION_UNSUPPORTED: { message: 'The server does not speak this version of the protocol.', retryable: false },
  ROOM_NOT_FOUND: { message: 'No room has this code.', retryable: false },
  CODE_EXPIRED: { message: 'The room this code stood for has ended.', retryable: false },
  ROOM_FULL: { message: 'The room is full.', retryable: false },
  ROOM_LOCKED: { message: 'The host has locked the room.', retryable: false },
  PIN_REQUIRED: { message: 'The room asks for a PIN.', retryable: false, reserved: true },
  PIN_INVALID: { message: 'The PIN is wrong.', retryable: false, reserved: true },
  LOBBY_WAITING: { message: 'The host has been asked to let you in.', retryable: false, reserved: true },
  BANNED: { message: 'The host has banned you from this room.', retryable: false },
  NOT_IN_ROOM: { message: 'You are not in a room.', retryable: false },
  PEER_NOT_FOUND: { message: 'No such member is in your room.', retryable: false },
  PEER_AWAY: { message: 'The member is away; nothing was delivered.', retryable: true },
  PAYLOAD_TOO_LARGE: { message: 'The payload is larger than the limit.', retryable: false },
  RATE_LIMITED: { message: 'Too many requests; slow down.', retryable: true },
  QUOTA_EXCEEDED: { message: 'Too many connections from this address.', retryable: true, reserved: true },
  CONFLICT: { message: 'The request contradicts itself, or what another one has done.', retryable: false },
  POOL_EXHAUSTED: { message: 'Every room code is in use.', retryable: true },
  STORE_UNAVAILABLE: { message: 'The shared store does not answer; try again.', retryable: true },
  REFERENCE_UNAVAILABLE: { message: 'No reference can be issued now; try again.', retryable: true },
  DRAINING: { message: 'This node is shutting down; connect again.', retryable: true },
  SESSION_EXPIRED: { message: 'The session is over; connect again without it.', retryable: false },
  NOT_FOUND: { message: 'Nothing is here.', retryable: false },
  NOT_CONFIGURED: { message: 'This server keeps nothing of the kind.', retryable: false },
  INTERNAL: { message: 'The server failed; the fault has been logged.', retryable: false },
} as const satisfies Record<string, ErrorEntry>;

/** The codes of refusals. */
export type ErrorCode = keyof typeof ERRORS;

/** What a client receives: in an acknowledgement, as `connect_error.data`, and in an HTTP problem. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  /** Milliseconds after which the same request may succeed. */
  retryAfterMs?: number;
}

export interface ErrorDetail {
  /** Replaces the general text by one for this request. Never contains a secret, a room code or a token. */
  message?: string;
  /** Milliseconds. */
  retryAfterMs?: number;
}

export function errorBody(code: ErrorCode, detail: ErrorDetail = {}): ErrorBody {
  const { message, retryable } = ERRORS[code];
  return {
    code,
    message: detail.message ?? message,
    retryable,
    ...(detail.retryAfterMs !== undefined && { retryAfterMs: Math.max(0, Math.ceil(detail.retryAfterMs)) }),
  };
}
