/** What can be sent at all. The server ends the connection of whoever sends more, and a request is sent again after that. */
import { LIMITS } from '../protocol/limits.ts';
import { clientError } from './errors.ts';

/** Beside the longest thing to say, whatever a request is wrapped in. */
const MAX_BYTES = LIMITS.signalBytes + 1024;

/** @throws SignalboxError `PAYLOAD_TOO_LARGE`, or `BAD_REQUEST` for what JSON cannot hold */
export function checkPayload(payload: unknown): void {
  let text: string;
  try {
    text = JSON.stringify(payload);
  } catch {
    throw clientError('BAD_REQUEST');
  }
  if (byteLength(text) > MAX_BYTES) throw clientError('PAYLOAD_TOO_LARGE');
}

/** As UTF-8, which is what is sent. */
export const byteLength = (text: string): number => new TextEncoder().encode(text).length;
