/** The error that the SDK's promises reject with. */
import type { ErrorBody, ErrorCode } from '../protocol/index.ts';

/** Error codes that originate in the client, with their texts. */
const OWN = {
  UNREACHABLE: 'The server cannot be reached.',
  TIMEOUT: 'No answer in time: the request may have been carried out.',
  CLOSED: 'This client is closed.',
  BAD_REQUEST: 'This value cannot be written as JSON.',
  PAYLOAD_TOO_LARGE: 'This is too large to be sent.',
  INTERNAL: 'The answer of the server is invalid.',
} as const;

/** `UNREACHABLE` and `TIMEOUT` are retryable; `CLOSED` is not. */
export type ClientErrorCode = Exclude<keyof typeof OWN, ErrorCode>;

/** A refusal by the server (its codes are those of the protocol), or the lack of an answer. */
export class SignalboxError extends Error {
  /** @internal */
  override readonly name = 'SignalboxError';
  /** For programs; `message` is for logs. */
  readonly code: ErrorCode | ClientErrorCode;
  /** Whether the same request, sent again unchanged, may succeed. */
  readonly retryable: boolean;
  /** Milliseconds to wait before another try, where the server names them. */
  readonly retryAfterMs: number | undefined;

  /** @internal */
  constructor({ code, message, retryable, retryAfterMs }: Omit<ErrorBody, 'code'> & { code: SignalboxError['code'] }) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

/** @param message instead of the text of the code */
export const clientError = (code: keyof typeof OWN, message: string = OWN[code]): SignalboxError =>
  new SignalboxError({ code, message, retryable: code === 'UNREACHABLE' || code === 'TIMEOUT' });
