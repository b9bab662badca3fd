/** A seat is kept, given back and come back to: one example per rule and per refusal. */
import { describe, expect, test } from 'vitest';
import { check, type Example } from './example.ts';
import {
  at,
  create,
  createStage,
  HOUR,
  join,
  kick,
  leave,
  MINUTE,
  play,
  renew,
  resume,
  SECOND,
  suspend,
} from './stage.ts';

const ann = [create('ann')];
const annAndBob = [create('ann'), join('bob')];
const bobAway = [...annAndBob, suspend('bob')];

describe('leave', () => {
  test.each<Example>([
    { rule: 'frees the seat', given: annAndBob, act: leave('bob'), told: ['3 member:left bob left'], seats: 'ann*' },
    {
      rule: 'is open to an away member',
      given: bobAway,
      act: leave('bob'),
      told: ['4 member:left bob left'],
      seats: 'ann*',
    },
    { rule: 'is refused without a seat', given: ann, act: leave('bob'), says: 'NOT_IN_ROOM', seats: 'ann*' },
    {
      rule: 'is refused with another ref',
      given: annAndBob,
      act: leave('bob', { ref: 2 }),
      says: 'CODE_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'is refused to an earlier session',
      given: [...annAndBob, join('bob', { session: 2 })],
      act: leave('bob'),
      says: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'is refused to a session that has not taken the seat',
      given: annAndBob,
      act: leave('bob', { session: 2 }),
      says: 'SESSION_EXPIRED',
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
      told: ['3 member:away bob'],
      seats: 'ann* bob(away)',
    },
    {
      rule: 'of the host keeps its role',
      given: annAndBob,
      act: suspend('ann'),
      told: ['3 member:away ann'],
      seats: 'ann*(away) bob',
    },
    { rule: 'done twice changes nothing', given: bobAway, act: suspend('bob'), seats: 'ann* bob(away)' },
    {
      rule: 'that comes late, after the next session has sat down, is refused',
      given: [...annAndBob, resume('bob', { session: 2 })],
      act: suspend('bob'),
      says: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    { rule: 'is refused without a seat', given: ann, act: suspend('bob'), says: 'NOT_IN_ROOM', seats: 'ann*' },
    {
      rule: 'is refused with another ref',
      given: annAndBob,
      act: suspend('bob', { ref: 2 }),
      says: 'CODE_EXPIRED',
      seats: 'ann* bob',
    },
  ])('$rule', check);

  test('leaves the seat the grace, counted from the first of two', () => {
    const stage = createStage();
    play(stage, ...annAndBob, at(10 * SECOND), suspend('bob'), at(20 * SECOND), suspend('bob'));
    expect(stage.room().seats[1]?.leaseUntil).toBe(40 * SECOND);
  });
});

describe('resume', () => {
  test.each<Example>([
    {
      rule: 'of an away seat is back',
      given: bobAway,
      act: resume('bob', { session: 2 }),
      told: ['4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'that comes before the loss was noticed reads as away, then back',
      given: annAndBob,
      act: resume('bob', { session: 2 }),
      told: ['3 member:away bob', '4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'by the same session is back too',
      given: bobAway,
      act: resume('bob'),
      told: ['4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'done twice by one session is told once',
      given: [...bobAway, resume('bob', { session: 2 })],
      act: resume('bob', { session: 2 }),
      seats: 'ann* bob',
    },
    {
      rule: 'by an earlier session is refused',
      given: [...bobAway, resume('bob', { session: 3 })],
      act: resume('bob', { session: 2 }),
      says: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'past the grace is allowed as long as nobody has reaped the seat',
      given: [...bobAway, at(HOUR)],
      act: resume('bob', { session: 2 }),
      told: ['4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'without a seat is refused: resuming does not join',
      given: ann,
      act: resume('bob'),
      says: 'NOT_IN_ROOM',
      seats: 'ann*',
    },
    {
      rule: 'in another room is refused',
      given: bobAway,
      act: resume('bob', { ref: 2, session: 2 }),
      says: 'CODE_EXPIRED',
      seats: 'ann* bob(away)',
    },
    {
      rule: 'after a kick is refused',
      given: [...bobAway, kick('ann', 'bob')],
      act: resume('bob', { session: 2 }),
      says: 'NOT_IN_ROOM',
      seats: 'ann*',
    },
  ])('$rule', check);
});

describe('renew', () => {
  test.each<Example>([
    { rule: 'changes nothing that others see', given: annAndBob, act: renew('bob'), seats: 'ann* bob' },
    { rule: 'does not bring an away member back', given: bobAway, act: renew('bob'), seats: 'ann* bob(away)' },
    { rule: 'is refused without a seat', given: ann, act: renew('bob'), says: 'NOT_IN_ROOM', seats: 'ann*' },
    {
      rule: 'is refused with another ref',
      given: ann,
      act: renew('ann', { ref: 2 }),
      says: 'CODE_EXPIRED',
      seats: 'ann*',
    },
    {
      rule: 'is refused to an earlier session',
      given: [...ann, join('ann', { session: 2 })],
      act: renew('ann'),
      says: 'SESSION_EXPIRED',
      seats: 'ann*',
    },
  ])('$rule', check);

  test('answers with the revision and the time, and moves lease and activity', () => {
    const stage = createStage();
    expect(play(stage, ...annAndBob, at(20 * SECOND), renew('bob'))).toEqual({ ok: true, rev: 2, now: 20 * SECOND });
    expect(stage.room()).toMatchObject({
      lastActive: 20 * SECOND,
      seats: [{ leaseUntil: MINUTE }, { leaseUntil: 80 * SECOND }],
    });
  });

  test('of an away member does not lengthen the grace', () => {
    const stage = createStage();
    play(stage, ...bobAway, at(20 * SECOND), renew('bob'));
    expect(stage.room().seats[1]?.leaseUntil).toBe(30 * SECOND);
  });
});
