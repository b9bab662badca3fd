/** A seat is taken, or taken again: one example per rule and per refusal. */
import { describe, expect, test } from 'vitest';
import { check, type Example } from './example.ts';
import { MINUTE, SECOND } from './fixtures.ts';
import { at, create, createHarness, join, kick, leave, run, suspend, updateRoom } from './harness.ts';

const ann = [create('ann')];
const annAndBob = [create('ann'), join('bob')];
const bobAway = [...annAndBob, suspend('bob')];

describe('join', () => {
  test.each<Example>([
    { rule: 'takes the next seat', given: ann, act: join('bob'), events: ['2 member:joined bob'], seats: 'ann* bob' },
    {
      rule: 'makes the first in an empty room its host',
      given: [...ann, leave('ann')],
      act: join('bob'),
      events: ['4 member:joined bob', '5 host:changed bob'],
      seats: 'bob*',
    },
    { rule: 'done twice by one session changes nothing', given: annAndBob, act: join('bob'), seats: 'ann* bob' },
    {
      rule: 'by a later session reads as away, then back',
      given: annAndBob,
      act: join('bob', { session: 2 }),
      events: ['3 member:away bob', '4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'by a later session of an away member is just back',
      given: bobAway,
      act: join('bob', { session: 2 }),
      events: ['4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'keeps the host’s role when the host comes back',
      given: [...annAndBob, suspend('ann')],
      act: join('ann', { session: 2 }),
      events: ['4 member:back ann'],
      seats: 'ann* bob',
    },
    {
      rule: 'is refused to an earlier session than the one that sits',
      given: [...ann, join('bob', { session: 2 })],
      act: join('bob'),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'is refused with another ref',
      given: ann,
      act: join('bob', { ref: 2 }),
      outcome: 'CODE_EXPIRED',
      seats: 'ann*',
    },
    { rule: 'is refused where no room is', given: [], act: join('bob'), outcome: 'CODE_EXPIRED', seats: 'no room' },
    {
      rule: 'is refused when every seat is taken',
      given: [create('ann', { settings: { maxUsers: 2 } }), join('bob')],
      act: join('cat'),
      outcome: 'ROOM_FULL',
      seats: 'ann* bob',
    },
    {
      rule: 'is refused though one of them is away: its seat is kept',
      given: [create('ann', { settings: { maxUsers: 2 } }), join('bob'), suspend('bob')],
      act: join('cat'),
      outcome: 'ROOM_FULL',
      seats: 'ann* bob(away)',
    },
    {
      rule: 'lets a member back into a full room',
      given: [create('ann', { settings: { maxUsers: 2 } }), join('bob'), suspend('bob')],
      act: join('bob', { session: 2 }),
      events: ['4 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'finds room again after somebody has left',
      given: [create('ann', { settings: { maxUsers: 2 } }), join('bob'), leave('bob')],
      act: join('cat'),
      events: ['4 member:joined cat'],
      seats: 'ann* cat',
    },
    {
      rule: 'is refused by a locked room',
      given: [...ann, updateRoom('ann', { locked: true })],
      act: join('bob'),
      outcome: 'ROOM_LOCKED',
      seats: 'ann*',
    },
    {
      rule: 'lets a member back into a locked room',
      given: [...bobAway, updateRoom('ann', { locked: true })],
      act: join('bob', { session: 2 }),
      events: ['5 member:back bob'],
      seats: 'ann* bob',
    },
    {
      rule: 'is refused to who is banned, whatever the session',
      given: [...annAndBob, kick('ann', 'bob', { ban: true })],
      act: join('bob', { session: 2 }),
      outcome: 'BANNED',
      seats: 'ann*',
    },
    {
      rule: 'is open to who was only kicked',
      given: [...annAndBob, kick('ann', 'bob')],
      act: join('bob'),
      events: ['4 member:joined bob'],
      seats: 'ann* bob',
    },
  ])('$rule', check);

  test('never gives the same seq twice', () => {
    const harness = createHarness();
    run(harness, ...annAndBob, leave('bob'), join('bob'), join('cat'));
    expect(harness.room().seats.map(({ userId, seq }) => `${userId} ${seq}`)).toEqual(['ann 1', 'bob 3', 'cat 4']);
  });

  test('coming back keeps seq, time of joining and profile', () => {
    const harness = createHarness();
    run(
      harness,
      ...ann,
      at(SECOND),
      join('bob', { profile: { name: 'Bob', metadata: '[1]' } }),
      suspend('bob'),
      at(MINUTE),
    );
    const before = harness.room().seats[1];
    const back = join('bob', { session: 2, node: 'node-b' });
    expect(run(harness, back)).toMatchObject({
      events: [{ body: { member: { name: 'Bob', metadata: [1], seq: 2 } } }],
    });
    const after = { state: 'present', session: 2, nodeId: 'node-b', leaseUntil: 2 * MINUTE };
    expect(harness.room().seats[1]).toEqual({ ...before, ...after });
  });
});
