/** Reads of a room, and changes of a seat’s profile and of the room’s settings. */
import { describe, expect, test } from 'vitest';
import { check, type Example } from './example.ts';
import { SECOND } from './fixtures.ts';
import { at, close, create, createHarness, join, read, run, updateRoom, updateSeat } from './harness.ts';

const ann = [create('ann')];
const two = [create('ann'), join('bob')];
const three = [...two, join('cat')];

describe('read', () => {
  test.each<Example>([
    { rule: 'needs no ref', given: ann, act: read(), seats: 'ann*' },
    { rule: 'takes the right one', given: ann, act: read({ ref: 1 }), seats: 'ann*' },
    { rule: 'is refused with another', given: ann, act: read({ ref: 2 }), outcome: 'CODE_EXPIRED', seats: 'ann*' },
    { rule: 'finds no room', given: [], act: read(), outcome: 'ROOM_NOT_FOUND', seats: 'no room' },
    {
      rule: 'finds that the room of a ref has ended',
      given: [],
      act: read({ ref: 1 }),
      outcome: 'CODE_EXPIRED',
      seats: 'no room',
    },
    {
      rule: 'finds no room in a cooling code',
      given: [...ann, close('ann')],
      act: read(),
      outcome: 'ROOM_NOT_FOUND',
      seats: 'no room',
    },
  ])('$rule', check);
});

describe('a seat’s profile', () => {
  test.each<Example>([
    {
      rule: 'gives an event to all members',
      given: two,
      act: updateSeat('bob', { name: 'Bob' }),
      events: ['3 member:updated bob'],
      seats: 'ann* bob',
    },
    { rule: 'gives no event when nothing was changed', given: two, act: updateSeat('bob', {}), seats: 'ann* bob' },
    {
      rule: 'is its holder’s only',
      given: ann,
      act: updateSeat('bob', { name: 'B' }),
      outcome: 'NOT_IN_ROOM',
      seats: 'ann*',
    },
    {
      rule: 'is the latest session’s only',
      given: three,
      act: updateSeat('cat', { name: 'C' }, { session: 2 }),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann* bob cat',
    },
  ])('$rule', check);

  test('keeps the fields that the update does not name', () => {
    const harness = createHarness();
    run(
      harness,
      ...ann,
      join('bob', { profile: { name: 'Bob', metadata: '1' } }),
      updateSeat('bob', { mediaType: 'audio' }),
    );
    expect(harness.room().seats[1]).toMatchObject({ name: 'Bob', metadata: '1', mediaType: 'audio', seq: 2 });
  });
});
describe('room settings', () => {
  const named = updateRoom('ann', { name: 'Tuesday' });

  test.each<Example>([
    { rule: 'gives an event to all members', given: two, act: named, events: ['3 room:updated'], seats: 'ann* bob' },
    { rule: 'gives no event when nothing was changed', given: two, act: updateRoom('ann', {}), seats: 'ann* bob' },
    {
      rule: 'is the host’s',
      given: two,
      act: updateRoom('bob', { name: 'Mine' }),
      outcome: 'FORBIDDEN',
      seats: 'ann* bob',
    },
    {
      rule: 'is the host’s though nothing was named',
      given: two,
      act: updateRoom('bob', {}),
      outcome: 'FORBIDDEN',
      seats: 'ann* bob',
    },
    { rule: 'needs a seat', given: two, act: updateRoom('dan', {}), outcome: 'NOT_IN_ROOM', seats: 'ann* bob' },
    {
      rule: 'needs the right room',
      given: two,
      act: updateRoom('ann', {}, { ref: 2 }),
      outcome: 'CODE_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'needs the latest session',
      given: two,
      act: updateRoom('ann', {}, { session: 2 }),
      outcome: 'SESSION_EXPIRED',
      seats: 'ann* bob',
    },
    {
      rule: 'keeps all members when maxUsers falls below their number',
      given: three,
      act: updateRoom('ann', { maxUsers: 2 }),
      events: ['4 room:updated'],
      seats: 'ann* bob cat',
    },
    {
      rule: 'refuses a join while the room has more members than its smaller maxUsers',
      given: [...three, updateRoom('ann', { maxUsers: 3 })],
      act: join('dan'),
      outcome: 'ROOM_FULL',
      seats: 'ann* bob cat',
    },
    {
      rule: 'opens a locked room again',
      given: [...two, updateRoom('ann', { locked: true }), updateRoom('ann', { locked: false })],
      act: join('cat'),
      events: ['5 member:joined cat'],
      seats: 'ann* bob cat',
    },
  ])('$rule', check);

  test('keeps the settings that the update does not name, and its event has all of them', () => {
    const harness = createHarness();
    const change = updateRoom('ann', { type: 'class', metadata: '{"k":[2]}' });
    expect(run(harness, ...two, at(SECOND), named, change)).toMatchObject({
      room: { name: 'Tuesday', type: 'class', maxUsers: 4, rev: 4, metadata: { k: [2] }, members: [{}, {}] },
      events: [{ body: { rev: 4, room: { rev: 4, name: 'Tuesday', metadata: { k: [2] }, locked: false } } }],
    });
    expect(harness.room().lastActive).toBe(SECOND);
  });
});
