/** The one kind of error that the SDK's promises reject with. */
import type { ErrorBody, ErrorCode } from '../protocol/index.ts';

/** What only a client can know, with its text. */
const OWN = {
  UNREACHABLE: 'The server cannot be reached.',
  TIMEOUT: 'The server did not answer in time; whether it did what was asked is not known.',
  CLOSED: 'This client is closed.',
} as const;

/** `UNREACHABLE` and `TIMEOUT` are worth another try; `CLOSED` is not. */
export type ClientErrorCode = keyof typeof OWN;

/** A refusal by the server (its codes are those of the protocol), or the lack of an answer. */
export class SignalboxError extends Error {
  /** @internal */
  override readonly name = 'SignalboxError';
  /** What to switch over; `message` is for logs. */
  readonly code: ErrorCode | ClientErrorCode;
  /** Whether the same request, sent again unchanged, may succeed. */
  readonly retryable: boolean;
  /** Milliseconds to wait before it has a chance, where the server has said so. */
  readonly retryAfterMs: number | undefined;

  /** @internal */
  constructor({ code, message, retryable, retryAfterMs }: Omit<ErrorBody, 'code'> & { code: SignalboxError['code'] }) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

export const clientError = (code: ClientErrorCode): SignalboxError =>
  new SignalboxError({ code, message: OWN[code], retryable: code !== 'CLOSED' });
