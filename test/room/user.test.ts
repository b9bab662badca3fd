/** A user’s record: session numbers always grow, late writes are refused, and a record without a seat is removed. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arrive, depart, recordTtl, touch, type UserRecord } from '../../src/room/user.ts';
import { node, POLICY, refOf, session, user } from './fixtures.ts';
import { deepFreeze } from './frozen.ts';
import { FIRST_CODE } from './harness.ts';

const ann = user('ann');
const seat = { code: FIRST_CODE, ref: refOf(1) };

const record = (changes: Partial<UserRecord> = {}): UserRecord =>
  deepFreeze({
    session: session(1_000),
    nodeId: node('node-a'),
    status: 'online',
    seat: null,
    connectedAt: 1_000,
    lastActive: 1_000,
    ...changes,
  });

const arrival = (name?: string) =>
  deepFreeze({ kind: 'arrive', userId: ann, nodeId: node('node-b'), ...(name !== undefined && { name }) } as const);

const touching = (of: number, changes: object = {}) =>
  deepFreeze({
    kind: 'touch',
    userId: ann,
    session: session(of),
    nodeId: node('node-a'),
    connectedAt: 1_000,
    seat,
    ...changes,
  } as const);

const departure = (of: number) => deepFreeze({ kind: 'depart', userId: ann, session: session(of) } as const);

describe('arrive', () => {
  test('of an unknown user numbers the session by the instant', () => {
    expect(arrive(undefined, arrival('Ann'), 5_000)).toEqual({
      outcome: { ok: true, session: 5_000, connectedAt: 5_000, previous: null, seat: null },
      record: record({
        session: session(5_000),
        nodeId: node('node-b'),
        connectedAt: 5_000,
        lastActive: 5_000,
        name: 'Ann',
      }),
    });
  });

  test.each([
    { rule: 'the instant', last: 1_000, now: 5_000, number: 5_000 },
    { rule: 'one more than the last, within the same instant', last: 1_000, now: 1_000, number: 1_001 },
    { rule: 'one more than the last, when many arrived at once', last: 1_007, now: 1_003, number: 1_008 },
    { rule: 'one more than the last, when the clock was set back', last: 9_000, now: 1_000, number: 9_001 },
  ])('of a known user numbers the session: $rule', ({ last, now, number }) => {
    expect(arrive(record({ session: session(last) }), arrival(), now).outcome.session).toBe(number);
  });

  test.each([
    ['online', true],
    ['away', false],
  ] as const)('returns the node of the previous session, and whether it is online: %s', (status, online) => {
    const { outcome } = arrive(record({ status }), arrival(), 5_000);
    expect(outcome.previous).toEqual({ session: 1_000, nodeId: 'node-a', online });
  });

  test('keeps the seat, the name and the media type', () => {
    const kept = { name: 'Ann', mediaType: 'video', seat };
    const step = arrive(record(kept), arrival(), 5_000);
    expect(step.outcome.seat).toEqual(seat);
    expect(step.record).toMatchObject(kept);
    expect(arrive(record(kept), arrival('Anna'), 5_000).record).toMatchObject({ ...kept, name: 'Anna' });
  });
});

describe('touch', () => {
  test('stores the seat, the name and the media type', () => {
    const step = touch(record(), touching(1_000, { name: 'Ann', mediaType: 'audio' }), 5_000);
    expect(step.outcome).toEqual({ ok: true, now: 5_000 });
    expect(step.record).toEqual(record({ seat, lastActive: 5_000, name: 'Ann', mediaType: 'audio' }));
  });

  test('removes a seat, name or media type that it does not contain', () => {
    const before = record({ seat, name: 'Ann', mediaType: 'audio' });
    expect(touch(before, touching(1_000, { seat: null }), 5_000).record).toEqual(record({ lastActive: 5_000 }));
  });

  test('sets an away user of the same session online', () => {
    expect(touch(record({ status: 'away', seat }), touching(1_000), 5_000).record?.status).toBe('online');
  });

  test('creates an expired record again', () => {
    expect(touch(undefined, touching(1_000), 5_000).record).toEqual(record({ seat, lastActive: 5_000 }));
  });

  test('is refused to an earlier session', () => {
    expect(touch(record(), touching(999), 5_000)).toEqual({ outcome: { ok: false, reason: 'SESSION_EXPIRED' } });
  });

  test('of a later session replaces the record, to which the store has gone back', () => {
    expect(touch(record(), touching(1_001), 5_000).record).toMatchObject({ session: 1_001, seat });
  });
});

describe('depart', () => {
  test('keeps a user with a seat, as away', () => {
    expect(depart(record({ seat, name: 'Ann' }), departure(1_000), 5_000)).toEqual({
      outcome: { ok: true },
      record: record({ seat, name: 'Ann', status: 'away', lastActive: 5_000 }),
    });
  });

  test('removes a user without a seat', () => {
    expect(depart(record(), departure(1_000), 5_000)).toEqual({ outcome: { ok: true }, record: null });
  });

  test('keeps the session number until the clock has passed it, so that it is not issued again', () => {
    expect(depart(record(), departure(1_000), 1_000).record).toMatchObject({
      session: 1_000,
      status: 'away',
      seat: null,
    });
    expect(depart(record(), departure(1_000), 1_001).record).toBeNull();
  });

  test.each([999, 1_001])('is refused to another session: %s', (number) => {
    const refused = { outcome: { ok: false, reason: 'SESSION_EXPIRED' } };
    expect(depart(record({ seat }), departure(number), 5_000)).toEqual(refused);
  });

  test('is refused without a record', () => {
    expect(depart(undefined, departure(1_000), 5_000).outcome.ok).toBe(false);
  });
});

test('an away user’s record outlives the grace of its seat', () => {
  expect(recordTtl(record(), POLICY)).toBe(60_000);
  expect(recordTtl(record({ status: 'away' }), POLICY)).toBe(60_000);
  expect(recordTtl(record(), { ...POLICY, graceMs: 90_000 })).toBe(60_000);
  expect(recordTtl(record({ status: 'away' }), { ...POLICY, graceMs: 90_000 })).toBe(90_000);
});

test('the session numbers of a user always grow, with any commands between and after any expiry', () => {
  const kind = fc.constantFrom('arrive', 'touch', 'depart');
  const action = fc.record({ kind, later: fc.constantFrom(0, 0, 1, 60_000), sits: fc.boolean() });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      const numbers = numbersOf(actions);
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    }),
    { numRuns: 500 },
  );
});

interface Action {
  readonly kind: 'arrive' | 'touch' | 'depart';
  /** Milliseconds since the previous action. */
  readonly later: number;
  readonly sits: boolean;
}

/** The session numbers of the arrivals, while the latest session touches and departs, and records expire. */
function numbersOf(actions: readonly Action[]): number[] {
  const numbers: number[] = [];
  let kept: { record: UserRecord; until: number } | undefined;
  let now = 1_000;
  for (const { kind, later, sits } of actions) {
    now += later;
    const before = kept !== undefined && kept.until > now ? kept.record : undefined;
    const last = numbers.at(-1) ?? 0;
    const { record: after } = step(before, { kind, sits, last }, now);
    if (kind === 'arrive' && after) numbers.push(after.session);
    if (after === null) kept = undefined;
    if (after) kept = { record: after, until: now + recordTtl(after, POLICY) };
  }
  return numbers;
}

function step(
  before: UserRecord | undefined,
  action: { kind: Action['kind']; sits: boolean; last: number },
  now: number,
) {
  if (action.kind === 'arrive') return arrive(before, arrival(), now);
  if (action.kind === 'depart') return depart(before, departure(action.last), now);
  return touch(before, touching(action.last, { seat: action.sits ? seat : null }), now);
}
