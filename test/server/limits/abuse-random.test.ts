/** Random JSON under random names: each answer is a success or an error of the table. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ERRORS } from '../../../src/protocol/errors.ts';
import { REQUESTS } from '../../../src/protocol/messages.ts';
import { RawSocket } from '../../support/raw-socket.ts';
import { startAttackTarget } from './attack-harness.ts';

const target = startAttackTarget();

const FIELDS = Object.values(REQUESTS).flatMap(({ payload }) => ('shape' in payload ? Object.keys(payload.shape) : []));
const POISON = ['__proto__', 'constructor', 'prototype', 'toJSON', 'then', 'length', '_placeholder', 'num'];

const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...Object.keys(REQUESTS)) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.constantFrom(...POISON, 'error', 'welcome', 'member:joined') },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);

const scalar = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('100000', '000000', 'ROM202600000042', '\ud800', 'x'.repeat(5000), '__proto__'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);

/** Objects are generated as text, so that `__proto__` is an ordinary key. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar.map((value) => JSON.stringify(value)),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...FIELDS, ...POISON, ''), tie('json')), { maxLength: 4 })
      .map((entries) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
  ),
}));

const request = fc
  .tuple(name, fc.array(json, { minLength: 0, maxLength: 2 }))
  .map(([event, payloads]) => `[${[JSON.stringify(event), ...payloads].join(',')}]`);

test('two thousand requests of any shape are answered, none with INTERNAL', async () => {
  let attacker: RawSocket | undefined;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 10 }), async (requests) => {
      attacker = attacker?.open === true ? attacker : await RawSocket.join(target.port);
      const connection = attacker;
      const answers = await Promise.all(requests.map((text) => connection.askText(text)));
      for (const answer of answers) {
        if (answer.ok) continue;
        expect(Object.keys(ERRORS)).toContain(answer.error.code);
        expect(answer.error.code).not.toBe('INTERNAL');
      }
      // No request ends the connection, except one with a name that Socket.IO reserves.
      expect(connection.open).toBe(true);
    }),
    { numRuns: 400, endOnFailure: true },
  );
  await attacker?.[Symbol.asyncDispose]();
});

test('handshakes of any shape are welcomed or refused, none with INTERNAL', async () => {
  const auth = fc
    .array(fc.tuple(fc.constantFrom('v', 'token', 'resume', 'name', 'pid', 'offset', ...POISON), json), {
      maxLength: 4,
    })
    .map((entries) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`);
  await fc.assert(
    fc.asyncProperty(auth, async (text) => {
      await using attacker = await RawSocket.open(target.port);
      attacker.send(`40${text}`);
      const answer = await attacker.next(/^4[04]\{/);
      if (answer.startsWith('40')) return;
      const { data } = JSON.parse(answer.slice(2)) as { data: { code: string } };
      expect(['BAD_REQUEST', 'VERSION_UNSUPPORTED', 'UNAUTHENTICATED', 'SESSION_EXPIRED']).toContain(data.code);
    }),
    { numRuns: 100, endOnFailure: true },
  );
});
