/** A seat is kept, given back and come back to: one example per rule and per refusal. */
import { describe, expect, test } from 'vitest';
import { check, type Example } from './example.ts';
import { HOUR, MINUTE, SECOND } from './fixtures.ts';
import { at, create, createHarness, join, kick, leave, renew, resume, run, suspend } from './harness.ts';

const ann = [create('ann')];
const annAndBob = [create('ann'), join('bob')];
const bobAway = [...annAndBob, suspend('bob')];

describe('leave', () => {
  test.each<Example>([
    { rule: 'frees the seat', given: annAndBob, act: leave('bob'), events: ['3 member:left bob left'], seats: 'ann*' },
    {
      rule: 'is open to an away member',
      given: bobAway,
      act: leave('bob'),
      events: ['4 member:left bob left'],
      seats: 'ann*',
    },
    { rule: 'is refused without a seat', given: ann, act: leave('bob'), outcome: 'NOT_IN_ROOM', seats: 'ann*' },
    {
      rule: 'is refused with another ref',
      given: annAndBob,
      act: leave('bob', { ref: 2 }),
      outcome: 'CODE_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'is refused to an earlier session',
      given: [...annAndBob, join('bob', { session: 2 })],
      act: leave('bob'),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'is refused to a session that has not taken the seat',
      given: annAndBob,
      act: leave('bob', { session: 2 }),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
  ])('$rule', check);
});

describe('suspend', () => {
  test.each<Example>([
    {
      rule: 'keeps the seat as away',
      given: annAndBob,
      act: suspend('bob'),
      events: ['3 member:away bob'],
      seats: 'ann* bob(away)',
    },
    {
      rule: 'of the host keeps its role',
      given: annAndBob,
      act: suspend('ann'),
      events: ['3 member:away ann'],
      seats: 'ann*(away) bob',
    },
    { rule: 'done twice changes nothing', given: bobAway, act: suspend('bob'), seats: 'ann* bob(away)' },
    {
      rule: 'that comes late, after the next session has sat down, is refused',
      given: [...annAndBob, resume('bob', { session: 2 })],
      act: suspend('bob'),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    { rule: 'is refused without a seat', given: ann, act: suspend('bob'), outcome: 'NOT_IN_ROOM', seats: 'ann*' },
    {
      rule: 'is refused with another ref',
      given: annAndBob,
      act: suspend('bob', { ref: 2 }),
      outcome: 'CODE_EXPIRED',
      seats: 'ann* bob',
    },
  ])('$rule', check);

  test('leaves the seat the grace, counted from the first of two', () => {
    const harness = createHarness();
    run(harness, ...annAndBob, at(10 * SECOND), suspend('bob'), at(20 * SECOND), suspend('bob'));
    expect(harness.room().seats[1]?.leaseUntil).toBe(40 * SECOND);
  });
});

describe('resume', () => {
  test.each<Example>([
    {
      rule: 'of an away seat is back',
      given: bobAway,
      act: resume('bob', { session: 2 }),
      events: ['4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'that comes before the loss was noticed reads as away, then back',
      given: annAndBob,
      act: resume('bob', { session: 2 }),
      events: ['3 member:away bob', '4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'by the same session is back too',
      given: bobAway,
      act: resume('bob'),
      events: ['4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'done twice by one session gives one event',
      given: [...bobAway, resume('bob', { session: 2 })],
      act: resume('bob', { session: 2 }),
      seats: 'ann* bob',
    },
    {
      rule: 'by an earlier session is refused',
      given: [...bobAway, resume('bob', { session: 3 })],
      act: resume('bob', { session: 2 }),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'past the grace is allowed as long as nobody has reaped the seat',
      given: [...bobAway, at(HOUR)],
      act: resume('bob', { session: 2 }),
      events: ['4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'without a seat is refused: resuming does not join',
      given: ann,
      act: resume('bob'),
      outcome: 'NOT_IN_ROOM',
      seats: 'ann*',
    },
    {
      rule: 'in another room is refused',
      given: bobAway,
      act: resume('bob', { ref: 2, session: 2 }),
      outcome: 'CODE_EXPIRED',
      seats: 'ann* bob(away)',
    },
    {
      rule: 'after a kick is refused',
      given: [...bobAway, kick('ann', 'bob')],
      act: resume('bob', { session: 2 }),
      outcome: 'NOT_IN_ROOM',
      seats: 'ann*',
    },
  ])('$rule', check);
});

describe('renew', () => {
  test.each<Example>([
    { rule: 'changes nothing that others see', given: annAndBob, act: renew('bob'), seats: 'ann* bob' },
    { rule: 'does not bring an away member back', given: bobAway, act: renew('bob'), seats: 'ann* bob(away)' },
    { rule: 'is refused without a seat', given: ann, act: renew('bob'), outcome: 'NOT_IN_ROOM', seats: 'ann*' },
    {
      rule: 'is refused with another ref',
      given: ann,
      act: renew('ann', { ref: 2 }),
      outcome: 'CODE_EXPIRED',
      seats: 'ann*',
    },
    {
      rule: 'is refused to an earlier session',
      given: [...ann, join('ann', { session: 2 })],
      act: renew('ann'),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann*',
    },
  ])('$rule', check);

  test('answers with the revision and the time, and moves lease and activity', () => {
    const harness = createHarness();
    expect(run(harness, ...annAndBob, at(20 * SECOND), renew('bob'))).toEqual({ ok: true, rev: 2, now: 20 * SECOND });
    expect(harness.room()).toMatchObject({
      lastActive: 20 * SECOND,
      seats: [{ leaseUntil: MINUTE }, { leaseUntil: 80 * SECOND }],
    });
  });

  test('of an away member does not lengthen the grace', () => {
    const harness = createHarness();
    run(harness, ...bobAway, at(20 * SECOND), renew('bob'));
    expect(harness.room().seats[1]?.leaseUntil).toBe(30 * SECOND);
  });
});
