import { describe, expect, expectTypeOf, test } from 'vitest';
import { ERRORS, type ErrorBody, type ErrorCode, errorBody } from '../../src/protocol/errors.ts';
import { COMMON_ERRORS, REQUESTS } from '../../src/protocol/messages.ts';

describe('the list', () => {
  test('is closed: who adds an error changes the protocol, and this line', () => {
    expect(Object.keys(ERRORS)).toEqual(
      (
        'BAD_REQUEST UNAUTHENTICATED FORBIDDEN VERSION_UNSUPPORTED ROOM_NOT_FOUND CODE_EXPIRED ROOM_FULL ' +
        'ROOM_LOCKED PIN_REQUIRED PIN_INVALID LOBBY_WAITING BANNED NOT_IN_ROOM PEER_NOT_FOUND PEER_AWAY ' +
        'PAYLOAD_TOO_LARGE RATE_LIMITED QUOTA_EXCEEDED CONFLICT POOL_EXHAUSTED STORE_UNAVAILABLE ' +
        'REFERENCE_UNAVAILABLE DRAINING SESSION_EXPIRED NOT_FOUND NOT_CONFIGURED INTERNAL'
      ).split(' '),
    );
  });

  test('says of each whether the same request may succeed later', () => {
    const retryable = Object.entries(ERRORS).flatMap(([code, entry]) => (entry.retryable ? [code] : []));
    expect(retryable).toEqual(
      (
        'PEER_AWAY RATE_LIMITED QUOTA_EXCEEDED POOL_EXHAUSTED STORE_UNAVAILABLE REFERENCE_UNAVAILABLE ' + 'DRAINING'
      ).split(' '),
    );
  });

  test('has one sentence for each, and none twice', () => {
    const messages = Object.values(ERRORS).map(({ message }) => message);
    for (const message of messages) expect(message).toMatch(/^[A-Z][^\n]*\.$|^[A-Z][^\n]*; [^\n]*\.$/);
    expect(new Set(messages).size).toBe(messages.length);
  });

  test('reserves what comes later, and no request names it yet', () => {
    const reserved = Object.entries(ERRORS).flatMap(([code, entry]) => ('reserved' in entry ? [code] : []));
    expect(reserved).toEqual(['PIN_REQUIRED', 'PIN_INVALID', 'LOBBY_WAITING', 'QUOTA_EXCEEDED']);
    const named: string[] = [...COMMON_ERRORS, ...Object.values(REQUESTS).flatMap(({ errors }) => errors)];
    expect(named.filter((code) => reserved.includes(code))).toEqual([]);
  });
});

test('a request names its own errors only, each once', () => {
  for (const { errors } of Object.values(REQUESTS)) {
    const own: readonly ErrorCode[] = errors;
    expect(new Set(own).size).toBe(own.length);
    expect(own.filter((code) => COMMON_ERRORS.some((common) => common === code))).toEqual([]);
  }
});

describe('the body', () => {
  test('is the code, its text and whether to retry', () => {
    expect(errorBody('ROOM_FULL')).toEqual({ code: 'ROOM_FULL', message: 'The room is full.', retryable: false });
    expect(errorBody('PEER_AWAY')).toMatchObject({ retryable: true });
  });

  test('takes a better text, but no other verdict', () => {
    const body = errorBody('BAD_REQUEST', { message: '`code` is not a code.' });
    expect(body).toEqual({ code: 'BAD_REQUEST', message: '`code` is not a code.', retryable: false });
  });

  test.each([
    [1_500, 1_500],
    [0, 0],
    [0.1, 1],
    [1_499.2, 1_500],
    [-5, 0],
    [-0.5, 0],
  ])('says when in whole milliseconds, never too early: %s', (given, told) => {
    const { retryAfterMs } = errorBody('RATE_LIMITED', { retryAfterMs: given });
    expect(retryAfterMs).toBeCloseTo(told, 10);
    expect(JSON.stringify(retryAfterMs)).toBe(String(told));
  });

  test('leaves out when it does not know', () => {
    expect(errorBody('RATE_LIMITED')).not.toHaveProperty('retryAfterMs');
  });

  test('is typed by the list', () => {
    expectTypeOf<ErrorBody['code']>().toEqualTypeOf<keyof typeof ERRORS>();
    expectTypeOf(errorBody).parameter(0).toEqualTypeOf<ErrorCode>();
  });
});
