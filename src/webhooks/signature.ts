/** Signatures as in the Standard Webhooks specification. */
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
const MIN_BYTES = 16;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The HMAC key in a secret: the base64 bytes after `whsec_`; the bytes of the text itself when it has no such prefix.
 *
 * @returns undefined when there are fewer than 16 bytes, or the base64 is invalid.
 */
export function keyOf(secret: string): Buffer | undefined {
  if (!secret.startsWith(PREFIX)) return longEnough(Buffer.from(secret));
  const text = secret.slice(PREFIX.length);
  return BASE64.test(text) ? longEnough(Buffer.from(text, 'base64')) : undefined;
}

const longEnough = (key: Buffer): Buffer | undefined => (key.length < MIN_BYTES ? undefined : key);

export interface Message {
  /** The event's id: the same in every attempt, so that receivers can recognize duplicates. */
  readonly id: string;
  readonly body: string;
}

/**
 * The headers that authenticate a message and its time.
 *
 * @param keys one signature for each: a receiver accepts a message when it knows one of the keys.
 * @param now in milliseconds
 */
export function signatureHeaders({ id, body }: Message, keys: readonly Buffer[], now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = keys.map((key) => {
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    return `v1,${digest}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
