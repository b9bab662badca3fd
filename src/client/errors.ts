/** The one kind of error that the SDK's promises reject with. */
import type { ErrorBody, ErrorCode } from '../protocol/index.ts';

/** What a client finds out by itself, with its text. */
const OWN = {
  UNREACHABLE: 'The server cannot be reached.',
  TIMEOUT: 'No answer in time: it may be done all the same.',
  CLOSED: 'This client is closed.',
  BAD_REQUEST: 'JSON cannot hold this.',
  PAYLOAD_TOO_LARGE: 'This is too large to be sent.',
  INTERNAL: 'The server has answered nonsense.',
} as const;

/** `UNREACHABLE` and `TIMEOUT` are worth another try; `CLOSED` is not. */
export type ClientErrorCode = Exclude<keyof typeof OWN, ErrorCode>;

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

/** @param message in place of the usual one */
export const clientError = (code: keyof typeof OWN, message: string = OWN[code]): SignalboxError =>
  new SignalboxError({ code, message, retryable: code === 'UNREACHABLE' || code === 'TIMEOUT' });
