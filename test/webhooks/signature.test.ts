import { expect, test } from 'vitest';
import { keyOf, signatureHeaders } from '../../src/webhooks/signature.ts';
import { verify } from './verify.ts';

const keysOf = (...secrets: string[]) => secrets.map((secret) => keyOf(secret) ?? expect.unreachable());
const NOW = 1_614_265_330_999;
const BODY = '{"test": 2432232314}';
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';

test('the signature of the example in the specification of Standard Webhooks is the expected one', () => {
  const keys = keysOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  expect(signatureHeaders({ id: ID, body: BODY }, keys, NOW)).toEqual({
    'webhook-id': ID,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('with two secrets, a receiver that knows either accepts the message, and no other does', () => {
  const [older, newer, other] = [
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'a secret that is text, ümläuts too',
    'x'.repeat(16),
  ];
  const headers = signatureHeaders({ id: ID, body: BODY }, keysOf(newer, older), NOW);
  verify(older, headers, BODY, NOW);
  verify(newer, headers, BODY, NOW);
  expect(() => verify(other, headers, BODY, NOW)).toThrow('no signature');
  expect(() => verify(older, headers, `${BODY} `, NOW)).toThrow('no signature');
  expect(() => verify(older, { ...headers, 'webhook-id': 'msg_2' }, BODY, NOW)).toThrow('no signature');
  expect(() => verify(older, headers, BODY, NOW + 600_000)).toThrow('timestamp');
});

test.each([
  ['short text', 'x'.repeat(15), undefined],
  ['text', 'x'.repeat(16), 16],
  ['short base64', `whsec_${Buffer.alloc(15).toString('base64')}`, undefined],
  ['base64', `whsec_${Buffer.alloc(16).toString('base64')}`, 16],
  ['invalid base64', 'whsec_not base64, but long enough', undefined],
  ['nothing after the prefix', 'whsec_', undefined],
])('the key in a secret: %s', (_name, secret, length) => {
  expect(keyOf(secret)?.length).toBe(length);
});
