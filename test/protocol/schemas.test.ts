/** What is let in, and what is not: one line for each limit and each trick. */
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/protocol/limits.ts';
import { handshake, REQUESTS } from '../../src/protocol/messages.ts';
import { member, roomCode, roomSnapshot, sessionNumber, word } from '../../src/protocol/snapshot.ts';

/** Bytes of JSON: the quotes are two of them. */
const textOf = (bytes: number, character = 'x') =>
  character.repeat((bytes - 2) / new TextEncoder().encode(character).byteLength);

/** What JSON.parse makes of text: the only way `__proto__` comes to be an own key. */
const wire = (text: string): unknown => JSON.parse(text);

const create = REQUESTS['room:create'].payload;
const join = REQUESTS['room:join'].payload;
const update = REQUESTS['room:update'].payload;
const kick = REQUESTS['room:kick'].payload;
const signal = REQUESTS.signal.payload;
const message = REQUESTS.message.payload;
const heartbeat = REQUESTS.heartbeat.payload;
const { profile } = REQUESTS;

describe('a code on the wire', () => {
  test.each(['100000', '999999', '1000000', '99999999'])('is text of ASCII digits: %s', (code) => {
    expect(join.parse({ code })).toEqual({ code });
  });

  test.each([
    482913,
    ['482913'],
    { code: '482913' },
    null,
    true,
    '',
    '48291',
    '482913579',
    '082913',
    '482 913',
    '482-913',
    ' 482913',
    '482913 ',
    '482913\n',
    '٤٨٢٩١٣',
    '４８２９１３',
    '+82913',
    '4829.3',
    '1e5000',
    '0x1234',
  ])('is nothing else: %j', (code) => {
    expect(roomCode.safeParse(code).success).toBe(false);
  });
});

test('a word is 1 to 32 letters, digits, dashes and underscores of ASCII', () => {
  for (const good of ['a', 'screen-share_2', 'x'.repeat(LIMITS.wordLength)]) expect(word.parse(good)).toBe(good);
  for (const bad of ['', 'x'.repeat(LIMITS.wordLength + 1), 'a b', 'é', 'a\n', 'a.b', 1, null]) {
    expect(word.safeParse(bad).success).toBe(false);
    expect(create.safeParse({ type: bad }).success).toBe(false);
    expect(profile.payload.safeParse({ mediaType: bad }).success).toBe(false);
  }
});

describe('JSON of any kind', () => {
  test.each([
    { what: 'signal.data', schema: signal, wrap: (data: unknown) => ({ to: 'bob', data }), bytes: 64 * 1024 },
    { what: 'message.data', schema: message, wrap: (data: unknown) => ({ data }), bytes: 4 * 1024 },
    { what: 'a room’s metadata', schema: create, wrap: (metadata: unknown) => ({ metadata }), bytes: 1024 },
    { what: 'new metadata of a room', schema: update, wrap: (metadata: unknown) => ({ metadata }), bytes: 1024 },
    { what: 'a profile’s metadata', schema: profile.payload, wrap: (metadata: unknown) => ({ metadata }), bytes: 1024 },
  ])('$what holds $bytes bytes and not one more', ({ schema, wrap, bytes }) => {
    expect(schema.safeParse(wrap(textOf(bytes))).success).toBe(true);
    expect(schema.safeParse(wrap(textOf(bytes + 1))).success).toBe(false);
    // Bytes, not characters: each of these takes two, and JSON spells a line break with two.
    expect(schema.safeParse(wrap(textOf(bytes, 'é'))).success).toBe(true);
    expect(schema.safeParse(wrap(`${textOf(bytes, 'é')}é`)).success).toBe(false);
    expect(schema.safeParse(wrap('\n'.repeat((bytes - 2) / 2 + 1))).success).toBe(false);
  });

  test.each([null, false, 0, '', [], {}, [[[]]], { a: { b: [1, 'x', null] } }])('%j comes through as it is', (data) => {
    expect(message.parse({ data })).toEqual({ data });
  });

  test('must be there', () => {
    expect(message.safeParse({}).success).toBe(false);
    expect(signal.safeParse({ to: 'bob' }).success).toBe(false);
    expect(signal.safeParse({ to: 'bob', data: undefined }).success).toBe(false);
  });

  test('keeps an own key named __proto__ to itself', () => {
    const parsed = signal.parse(wire('{"to":"bob","data":{"__proto__":{"admin":true}}}'));
    expect(JSON.stringify(parsed.data)).toBe('{"__proto__":{"admin":true}}');
    expect(parsed).not.toHaveProperty('admin');
    expect({}).not.toHaveProperty('admin');
  });
});

test.each(['{"__proto__":1}', '{"a":[{"__proto__":{}}]}', '{"constructor":{"prototype":{}}}'])(
  'metadata may not be %s, whose key names a prototype',
  (text) => {
    for (const schema of [create, update, profile.payload])
      expect(schema.safeParse({ metadata: wire(text) }).success).toBe(false);
    expect(message.safeParse({ data: wire(text) }).success).toBe(true);
  },
);

describe('a payload', () => {
  const requests = Object.entries(REQUESTS);

  test.each(requests)('of %s is an object and nothing else', (_name, { payload }) => {
    for (const bad of [undefined, null, true, 0, 'x', [], [{}], () => ({})]) {
      expect(payload.safeParse(bad).success).toBe(false);
    }
  });

  test.each(requests)('of %s knows all its keys', (_name, { payload }) => {
    for (const text of ['{"sid":1}', '{"__proto__":{"a":1}}', '{"constructor":1}', '{"toString":1}', '{"":1}']) {
      const required = { code: '482913', userId: 'bob', to: 'bob', data: 1 };
      const keys = Object.keys(payload.shape);
      const good = Object.fromEntries(Object.entries(required).filter(([key]) => keys.includes(key)));
      expect(payload.safeParse(good).success).toBe(true);
      const bad = wire(
        `{${JSON.stringify(good).slice(1, -1)}${Object.keys(good).length > 0 ? ',' : ''}${text.slice(1)}`,
      );
      expect(payload.safeParse(bad).success).toBe(false);
    }
  });

  test('does not take undefined or null for absent', () => {
    expect(create.safeParse({ name: undefined }).success).toBe(false);
    expect(create.safeParse({ name: null }).success).toBe(false);
    expect(join.safeParse({ code: '482913', ref: null }).success).toBe(false);
  });

  test.each([
    [2, true],
    [100, true],
    [1, false],
    [101, false],
    [0, false],
    [-2, false],
    [2.5, false],
    ['8', false],
    [Number.NaN, false],
    [Number.POSITIVE_INFINITY, false],
  ])('maxUsers %s: %s', (maxUsers, good) => {
    expect(create.safeParse({ maxUsers }).success).toBe(good);
    expect(update.safeParse({ maxUsers }).success).toBe(good);
  });

  test.each([
    ['an access that is not built yet', create, { access: 'pin' }],
    ['an idempotency key with a space', create, { idempotencyKey: 'a b' }],
    ['an empty idempotency key', create, { idempotencyKey: '' }],
    ['an idempotency key of 65 characters', create, { idempotencyKey: 'x'.repeat(65) }],
    ['an unknown key in the profile', create, { profile: { role: 'host' } }],
    ['a ref that is a code', join, { code: '482913', ref: '482913' }],
    ['locked as text', update, { locked: 'false' }],
    ['a host in an update', update, { hostId: 'bob' }],
    ['ban as a number', kick, { userId: 'bob', ban: 1 }],
    ['a user id with a space', kick, { userId: 'bob 2' }],
    ['a user id of 65 characters', signal, { to: 'x'.repeat(65), data: 1 }],
    ['a list of users', signal, { to: ['bob'], data: 1 }],
    ['a forged sender', signal, { to: 'bob', data: 1, from: 'ann' }],
    ['a revision below 0', heartbeat, { rev: -1 }],
    ['a revision that is not whole', heartbeat, { rev: 1.5 }],
    ['a revision beyond what is exact', heartbeat, { rev: 2 ** 53 }],
  ])('may not hold %s', (_what, schema, payload) => {
    expect(schema.safeParse(payload).success).toBe(false);
  });
});

describe('the handshake', () => {
  test('takes a version, a token, a resume token and a name', () => {
    const auth = { v: 1, token: 't', resume: 'r', name: 'Ann' };
    expect(handshake.parse(auth)).toEqual(auth);
    expect(handshake.parse({ v: 2 })).toEqual({ v: 2 });
  });

  test.each([
    { v: '1' },
    { v: null },
    { v: 1.5 },
    { v: 1, token: 'x'.repeat(8193) },
    { v: 1, resume: 'x'.repeat(2049) },
    { v: 1, token: 5 },
    { v: 1, userId: 'bob' },
    null,
    'x',
  ])('does not take what is not it: %#', (auth) => {
    expect(handshake.safeParse(auth).success).toBe(false);
  });
});

test('a snapshot is read back as it was written', () => {
  const written = {
    code: '482913',
    ref: 'ROM202600000042',
    rev: 3,
    name: null,
    type: 'meeting',
    maxUsers: 8,
    access: 'open',
    locked: false,
    hostId: 'ann',
    createdAt: 1,
    expiresAt: 2,
    metadata: { a: [null] },
    members: [{ userId: 'ann', name: 'Ann', role: 'host', state: 'present', seq: 1, joinedAt: 1, metadata: 0 }],
  };
  expect(roomSnapshot.parse(written)).toEqual(written);
  expect(member.safeParse({ ...written.members[0], seq: 0 }).success).toBe(false);
  expect(sessionNumber.safeParse(0).success).toBe(false);
});
