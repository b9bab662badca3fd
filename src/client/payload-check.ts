/**
 * Checks the payload of a request before it is sent. The server closes a connection that sends too large a frame: the
 * client would reconnect, send the request again, and lose the connection again.
 */
import { LIMITS } from '../protocol/limits.ts';
import { clientError } from './errors.ts';

/** The largest payload, a signal, and its envelope. */
const MAX_BYTES = LIMITS.signalBytes + 1024;

/** @throws SignalboxError `PAYLOAD_TOO_LARGE`, or `BAD_REQUEST` for a value that JSON cannot represent */
export function checkPayload(payload: unknown): void {
  let text: string;
  try {
    text = JSON.stringify(payload);
  } catch {
    throw clientError('BAD_REQUEST');
  }
  if (byteLength(text) > MAX_BYTES) throw clientError('PAYLOAD_TOO_LARGE');
}

/** In UTF-8, the encoding on the wire. */
export const byteLength = (text: string): number => new TextEncoder().encode(text).length;
