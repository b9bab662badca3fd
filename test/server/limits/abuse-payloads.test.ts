/** Every request of the table with invalid payloads of every kind. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../../src/protocol/errors.ts';
import type { RequestName } from '../../../src/protocol/events.ts';
import { LIMITS } from '../../../src/protocol/limits.ts';
import { REQUESTS } from '../../../src/protocol/messages.ts';
import { type Answer, RawSocket } from '../../support/raw-socket.ts';
import { expectAlive, startAttackTarget } from './attack-harness.ts';

const target = startAttackTarget();
const join = () => RawSocket.join(target.port);

const NAMES = Object.keys(REQUESTS) as RequestName[]; // the table's own keys
const HUGE = 'x'.repeat(70_000);
const WRONG: readonly unknown[] = [null, 0, -1, 1e308, true, '', 'text', HUGE, [], [[]], {}, { length: 1 }];

/** A valid payload for each request: the tests change one field at a time. */
const VALID: { readonly [Name in RequestName]: Record<string, unknown> } = {
  'room:create': {
    name: 'a',
    type: 'call',
    maxUsers: 4,
    access: 'open',
    metadata: {},
    profile: {},
    idempotencyKey: 'k',
  },
  'room:join': { code: '100000', ref: 'ROM202600000042', profile: {} },
  'room:leave': {},
  'room:get': { rev: 1 },
  'room:update': { name: 'a', type: 'call', maxUsers: 4, locked: false, access: 'open', metadata: {} },
  'room:kick': { userId: 'nobody', ban: false },
  'room:close': {},
  profile: { name: 'a', mediaType: 'audio', metadata: {} },
  signal: { to: 'nobody', data: {} },
  message: { data: {} },
  heartbeat: { rev: 0 },
  ice: {},
};

/** Expects success or an error of the table, exactly as the table describes it, and never INTERNAL. */
function expectTyped(answer: Answer): ErrorCode | undefined {
  if (answer.ok) return undefined;
  const { code, message, retryable, ...rest } = answer.error;
  expect(Object.keys(ERRORS)).toContain(code);
  expect(code).not.toBe('INTERNAL');
  expect(retryable).toBe(ERRORS[code].retryable);
  expect(message.length).toBeGreaterThan(0);
  // A short message: it does not repeat the payload.
  expect(message.length).toBeLessThan(200);
  expect(Object.keys(rest).filter((key) => key !== 'retryAfterMs')).toEqual([]);
  return code;
}

const expectRefused = (answer: Answer) => expect(['BAD_REQUEST', 'PAYLOAD_TOO_LARGE']).toContain(expectTyped(answer));

test('the valid payloads pass their schema and contain every field', () => {
  for (const name of NAMES) {
    const { payload } = REQUESTS[name];
    expect(payload.safeParse(VALID[name]).error).toBeUndefined();
    if (payload instanceof z.ZodObject)
      expect(Object.keys(VALID[name]).sort()).toEqual(Object.keys(payload.shape).sort());
  }
});

describe.each(NAMES)('%s', (name) => {
  test('is refused with a payload that is not an object', async () => {
    await using attacker = await join();
    for (const wrong of WRONG.filter((it) => typeof it !== 'object' || it === null || Array.isArray(it))) {
      expectRefused(await attacker.ask(name, wrong));
    }
    await expectAlive(attacker);
  });

  test('is refused with an additional field of any name', async () => {
    await using attacker = await join();
    const valid = JSON.stringify(VALID[name]).slice(0, -1);
    const comma = valid === '{' ? '' : ',';
    for (const key of ['surprise', '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', 'ok']) {
      for (const value of ['1', '{"polluted":true}', 'null']) {
        const payload = `${valid}${comma}${JSON.stringify(key)}:${value}}`;
        expectRefused(await attacker.askText(`["${name}",${payload}]`));
      }
    }
    await expectAlive(attacker);
  });

  test('is refused with a field that is missing or of another type', async () => {
    await using attacker = await join();
    const { payload: schema } = REQUESTS[name];
    let refused = 0;
    for (const field of Object.keys(VALID[name])) {
      const { [field]: _, ...without } = VALID[name];
      for (const payload of [without, ...WRONG.map((wrong) => ({ ...without, [field]: wrong }))]) {
        const answer = await attacker.ask(name, payload);
        expectTyped(answer);
        if (schema.safeParse(payload).success) continue;
        expectRefused(answer);
        refused += 1;
      }
    }
    // Opaque data accepts every value that is not huge or missing; each other field refuses at least one value.
    expect(refused).toBeGreaterThanOrEqual(Object.keys(VALID[name]).length);
    await expectAlive(attacker);
  });

  test('is answered with no payload, with several payloads, and without an acknowledgement', async () => {
    await using attacker = await join();
    expectTyped(await attacker.ask(name));
    for (const more of [
      [{}, {}],
      [VALID[name], VALID[name]],
      [null, null, null],
      Array.from({ length: 1000 }, () => 0),
    ]) {
      expectRefused(await attacker.ask(name, ...more));
    }
    for (const payload of ['', ',null', ',{}', ',[]', `,${JSON.stringify(VALID[name])}`, ',{},{},{}']) {
      attacker.send(`42["${name}"${payload}]`);
    }
    await expectAlive(attacker);
  });
});

describe('names of events', () => {
  test.each([
    'constructor',
    '__proto__',
    'prototype',
    'hasOwnProperty',
    'toString',
    'valueOf',
    'error',
    '',
    ' ',
    'welcome',
  ])('%j is refused as an unknown name', async (name) => {
    await using attacker = await join();
    expect(await attacker.ask(name, {})).toMatchObject({ ok: false, error: { code: 'BAD_REQUEST' } });
    expect(await attacker.ask(name)).toMatchObject({ ok: false, error: { code: 'BAD_REQUEST' } });
    await expectAlive(attacker);
  });

  test.each([0, 1, -1, 1.5, 1e308, 'room:leave ', 'ROOM:LEAVE', 'room:leave\u0000', 'é', '\ud800'])(
    '%j is refused as a malformed name',
    async (name) => {
      await using attacker = await join();
      expect(await attacker.ask(name, {})).toMatchObject({ ok: false, error: { code: 'BAD_REQUEST' } });
      await expectAlive(attacker);
    },
  );

  test('that are unknown are answered two thousand times in a row', async () => {
    await using attacker = await join();
    const answers = await Promise.all(Array.from({ length: 2000 }, (_, number) => attacker.ask(`x${number}`, {})));
    expect(answers.every((answer) => !answer.ok && answer.error.code === 'BAD_REQUEST')).toBe(true);
  });
});

describe('sizes', () => {
  /** JSON text of the given size: quotes, and characters of one to four bytes or an escape. */
  const text = (bytes: number, character: string) => {
    const each = Buffer.byteLength(JSON.stringify(character)) - 2;
    const whole = Math.floor((bytes - 2) / each);
    return character.repeat(whole) + 'x'.repeat(bytes - 2 - whole * each);
  };

  test.each(['x', 'é', '語', '😀', '\u0000', '"'])(
    'of a signal may be 64 KiB of %j, and one byte more is refused',
    async (character) => {
      const [, peer] = target.witness.peers;
      const { room } = await peer.must('room:get');
      await using sender = await join();
      expect(await sender.ask('room:join', { code: room.code })).toMatchObject({ ok: true });
      const full = text(LIMITS.signalBytes, character);
      expect(Buffer.byteLength(JSON.stringify(full))).toBe(LIMITS.signalBytes);
      expect(await sender.ask('signal', { to: peer.userId, data: full })).toEqual({ ok: true });
      const { data } = await peer.next('signal', ({ from }) => from === sender.userId);
      expect(data).toBe(full);
      const answer = await sender.ask('signal', { to: peer.userId, data: `${full}x` });
      expect(expectTyped(answer)).toBe('PAYLOAD_TOO_LARGE');
      await expectAlive(sender);
    },
  );

  test.each([
    ['message', 'data', LIMITS.messageBytes],
    ['profile', 'metadata', LIMITS.metadataBytes],
    ['room:update', 'metadata', LIMITS.metadataBytes],
    ['room:create', 'metadata', LIMITS.metadataBytes],
  ] as const)('of %s: %s may have %i bytes, and one more is refused', async (name, field, bytes) => {
    await using sender = await join();
    await sender.ask('room:create', {});
    expect(await sender.ask(name, { [field]: text(bytes, 'x') })).toMatchObject({ ok: true });
    expect(expectTyped(await sender.ask(name, { [field]: text(bytes + 1, 'x') }))).toBe('PAYLOAD_TOO_LARGE');
  });

  test('of a name: lone surrogates, control characters, blanks and too many characters are refused', async () => {
    await using sender = await join();
    for (const name of [
      '"\\ud800"',
      '"a\\udc00"',
      '"\\udc00\\ud800"',
      '"\\u0000"',
      '"\\u0085"',
      '"\\u007f"',
      '"  "',
      '"\\u2028"',
    ]) {
      const answer = await sender.askText(`["room:create",{"name":${name}}]`);
      if (name !== '"\\u2028"' || !answer.ok) expect(expectTyped(answer)).toBe('BAD_REQUEST');
    }
    for (const name of ['x'.repeat(65), '😀'.repeat(65)]) expectRefused(await sender.ask('room:create', { name }));
    expect(await sender.ask('room:create', { name: ` ${'😀'.repeat(64)} ` })).toMatchObject({
      ok: true,
      room: { name: '😀'.repeat(64) },
    });
  });

  test('of metadata: every JSON value is accepted and returned unchanged', async () => {
    await using sender = await join();
    const metadata = '{"constructor":null,"toJSON":1,"lone":"\\ud800","":[[],{},1e300,-0.5]}';
    await sender.askText(`["room:create",{"metadata":${metadata}}]`);
    const answer = await sender.ask('room:get', {});
    expect(JSON.stringify(answer)).toContain(JSON.stringify(JSON.parse(metadata)));
  });
});
