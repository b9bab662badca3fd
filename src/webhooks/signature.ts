/** The signature of a delivery, as the Standard Webhooks specification has it. */
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
const LEAST_BYTES = 16;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * The key in a secret: the bytes behind `whsec_`, in base64; of any other text its own bytes.
 *
 * @returns undefined when there are fewer than 16, or it is no base64.
 */
export function keyOf(secret: string): Buffer | undefined {
  if (!secret.startsWith(PREFIX)) return atLeast(Buffer.from(secret));
  const text = secret.slice(PREFIX.length);
  return BASE64.test(text) ? atLeast(Buffer.from(text, 'base64')) : undefined;
}

const atLeast = (key: Buffer): Buffer | undefined => (key.length < LEAST_BYTES ? undefined : key);

export interface Message {
  /** The event's id: the same in every attempt, so that receivers know a repeat. */
  readonly id: string;
  readonly body: string;
}

/**
 * The headers that prove who sends a message, and when.
 *
 * @param keys one, or two while the secret is changed: a receiver that knows either is content.
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
