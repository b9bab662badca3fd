/** What only the host may do. */
import { describe, expect, test } from 'vitest';
import { MAX_BANS } from '../../src/room/transitions.ts';
import { check, type Example } from './example.ts';
import { MINUTE, SECOND } from './fixtures.ts';
import {
  at,
  close,
  create,
  createHarness,
  FIRST_CODE,
  join,
  kick,
  leave,
  outcomeWord,
  run,
  suspend,
} from './harness.ts';

const two = [create('ann'), join('bob')];
const three = [...two, join('cat')];

describe('kick', () => {
  test.each<Example>([
    {
      rule: 'takes the seat away',
      given: two,
      act: kick('ann', 'bob'),
      events: ['3 member:left bob kicked'],
      evicted: ['bob kicked'],
      seats: 'ann*',
    },
    {
      rule: 'takes an away member’s too',
      given: [...two, suspend('bob')],
      act: kick('ann', 'bob'),
      events: ['4 member:left bob kicked'],
      evicted: ['bob kicked'],
      seats: 'ann*',
    },
    { rule: 'is the host’s', given: three, act: kick('bob', 'cat'), outcome: 'FORBIDDEN', seats: 'ann* bob cat' },
    { rule: 'is not for the host itself', given: two, act: kick('ann', 'ann'), outcome: 'CONFLICT', seats: 'ann* bob' },
    { rule: 'needs a member', given: two, act: kick('ann', 'dan'), outcome: 'PEER_NOT_FOUND', seats: 'ann* bob' },
    { rule: 'needs a seat', given: two, act: kick('dan', 'bob'), outcome: 'NOT_IN_ROOM', seats: 'ann* bob' },
    {
      rule: 'needs the right room',
      given: two,
      act: kick('ann', 'bob', { ref: 2 }),
      outcome: 'CODE_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'needs the latest session',
      given: two,
      act: kick('ann', 'bob', { session: 2 }),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'is open to the next host',
      given: [...three, leave('ann')],
      act: kick('bob', 'cat'),
      events: ['6 member:left cat kicked'],
      evicted: ['cat kicked'],
      seats: 'bob*',
    },
  ])('$rule', check);

  test('bans only when asked to', () => {
    const harness = createHarness();
    run(harness, ...three, kick('ann', 'bob', { ban: true }), kick('ann', 'cat'));
    expect(harness.room().banned).toEqual(['bob']);
  });

  test('keeps the latest bans when there are too many', () => {
    const harness = createHarness();
    const names = Array.from({ length: MAX_BANS + 1 }, (_, index) => `guest-${index}`);
    run(harness, create('ann'), ...names.flatMap((name) => [join(name), kick('ann', name, { ban: true })]));
    expect(harness.room().banned).toEqual(names.slice(1));
    expect(outcomeWord(run(harness, join('guest-1')))).toBe('BANNED');
    expect(outcomeWord(run(harness, join('guest-0')))).toBe('ok');
  });
});

describe('close', () => {
  test.each<Example>([
    {
      rule: 'ends the room for all',
      given: two,
      act: close('ann'),
      events: ['3 room:closed closed'],
      evicted: ['ann closed', 'bob closed'],
      seats: 'no room',
    },
    { rule: 'is the host’s', given: two, act: close('bob'), outcome: 'FORBIDDEN', seats: 'ann* bob' },
    { rule: 'needs a seat', given: two, act: close('dan'), outcome: 'NOT_IN_ROOM', seats: 'ann* bob' },
    {
      rule: 'needs the right room',
      given: two,
      act: close('ann', { ref: 2 }),
      outcome: 'CODE_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'needs the latest session',
      given: two,
      act: close('ann', { session: 2 }),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'finds nothing to do the second time',
      given: [...two, close('ann')],
      act: close('ann'),
      outcome: 'CODE_EXPIRED',
      seats: 'no room',
    },
  ])('$rule', check);

  test('lets the code cool, and answers with the last revision', () => {
    const harness = createHarness();
    expect(run(harness, ...two, at(SECOND), close('ann'))).toMatchObject({ rev: 3 });
    expect([...harness.shard.cooling]).toEqual([[FIRST_CODE, SECOND + 10 * MINUTE]]);
  });
});
