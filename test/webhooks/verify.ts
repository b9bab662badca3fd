/** Verification as a receiver does it, written from the Standard Webhooks specification and not from our code. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const TOLERANCE_S = 5 * 60;

/** @throws when the message is not signed with this secret, or its timestamp is not current. */
export function verify(secret: string, headers: IncomingHttpHeaders, body: string, nowMs = Date.now()): void {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headers[name];
    if (typeof value !== 'string') throw new Error(`${name} is missing`);
    return value;
  });
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_S) throw new Error('the timestamp is too old or too new');
  const [, base64] = /^whsec_(.+)$/.exec(secret) ?? [];
  const key = base64 === undefined ? Buffer.from(secret, 'utf8') : Buffer.from(base64, 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  const good = (signatures ?? '').split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!good) throw new Error('no signature matches this secret');
}
