/** The tick reaps seats past their lease, rooms past their deadline and cooled codes. */
import { describe, expect, test } from 'vitest';
import type { SeatKey, Tick } from '../../src/room/commands.ts';
import { check, type Example } from './example.ts';
import { HOUR, MINUTE, QUIET_TICK, SECOND } from './fixtures.ts';
import {
  at,
  close,
  create,
  createHarness,
  evictedOf,
  type Harness,
  join,
  keyOf,
  leave,
  renew,
  run,
  tick,
} from './harness.ts';

const two = [create('ann'), join('bob')];
const ann = keyOf('ann');
const bob = keyOf('bob');

const ticked = (harness: Harness, held: readonly SeatKey[] = [], limit = 100) =>
  harness.apply<Tick>({ kind: 'tick', shard: 7, held, limit, ...QUIET_TICK });

describe('seats past their lease', () => {
  test.each<Example>([
    { rule: 'are kept a moment before its end', given: [...two, at(MINUTE - 1)], act: tick(), seats: 'ann* bob' },
    {
      rule: 'are lost at its end',
      given: [...two, at(MINUTE)],
      act: tick([ann]),
      events: ['3 member:left bob lost'],
      evicted: ['bob lost'],
      seats: 'ann*',
    },
    {
      rule: 'are lost once',
      given: [...two, at(MINUTE), tick([ann])],
      act: tick([ann]),
      seats: 'ann*',
    },
    {
      rule: 'were kept by renewing',
      given: [...two, at(30 * SECOND), renew('bob'), at(MINUTE)],
      act: tick([ann]),
      seats: 'ann* bob',
    },
    {
      rule: 'are lost in the order of their leases',
      given: [create('ann'), at(2), join('bob'), at(1), join('cat'), at(2 * MINUTE)],
      act: tick([ann]),
      events: ['4 member:left cat lost', '5 member:left bob lost'],
      evicted: ['cat lost', 'bob lost'],
      seats: 'ann*',
    },
    {
      rule: 'are lost in the order of their names, when the leases end together',
      given: [create('ann'), join('dan'), join('bob'), join('Cat'), at(MINUTE)],
      act: tick([ann]),
      events: ['5 member:left Cat lost', '6 member:left bob lost', '7 member:left dan lost'],
      evicted: ['Cat lost', 'bob lost', 'dan lost'],
      seats: 'ann*',
    },
    {
      rule: 'pass on the role of host, one after the other',
      given: [...two, at(MINUTE)],
      act: tick(),
      events: ['3 member:left ann lost', '4 host:changed bob', '5 member:left bob lost', '6 host:changed nobody'],
      evicted: ['ann lost', 'bob lost'],
      seats: '-',
    },
    {
      rule: 'are evicted once when the room ends with its host before their turn',
      policy: { closeOnHostLeave: true },
      given: [...two, at(MINUTE)],
      act: tick(),
      events: ['3 member:left ann lost', '4 room:closed host-left'],
      evicted: ['ann lost', 'bob host-left'],
      seats: 'no room',
    },
  ])('$rule', check);
});

describe('a room', () => {
  const kept = [create('ann'), join('bob')];
  const holding = tick([ann, bob]);

  test.each<Example>([
    {
      rule: 'is kept a moment before it has idled',
      given: [...kept, at(30 * MINUTE - 1)],
      act: holding,
      seats: 'ann* bob',
    },
    {
      rule: 'ends after a time without a request, also with members present',
      given: [...kept, at(30 * MINUTE)],
      act: holding,
      events: ['3 room:closed idle'],
      evicted: ['ann idle', 'bob idle'],
      seats: 'no room',
    },
    {
      rule: 'is idle since the last request',
      given: [...kept, at(20 * MINUTE), renew('ann'), at(30 * MINUTE)],
      act: holding,
      seats: 'ann* bob',
    },
    {
      rule: 'ends when it has been empty for the time limit',
      given: [create('ann'), at(SECOND), leave('ann'), at(5 * MINUTE + SECOND)],
      act: tick(),
      events: ['4 room:closed empty'],
      seats: 'no room',
    },
    {
      rule: 'is kept a moment before',
      given: [create('ann'), at(SECOND), leave('ann'), at(5 * MINUTE)],
      act: tick(),
      seats: '-',
    },
    {
      rule: 'is empty since the last seat was reaped, not since its member went away',
      given: [create('ann'), at(5 * MINUTE), tick(), at(10 * MINUTE - 1)],
      act: tick(),
      seats: '-',
    },
    {
      rule: 'is not empty any more after a join',
      given: [create('ann'), leave('ann'), at(4 * MINUTE), join('bob'), at(6 * MINUTE)],
      act: tick([bob]),
      seats: 'bob*',
    },
    {
      rule: 'ends at its age, however active it is',
      given: [...kept, at(24 * HOUR - 1), renew('ann'), at(24 * HOUR)],
      act: holding,
      events: ['3 room:closed aged'],
      evicted: ['ann aged', 'bob aged'],
      seats: 'no room',
    },
    {
      rule: 'ends for the first of two reasons',
      policy: { maxAgeMs: 10 * MINUTE },
      given: [create('ann'), at(SECOND), leave('ann'), at(HOUR)],
      act: tick(),
      events: ['4 room:closed empty'],
      seats: 'no room',
    },
    {
      rule: 'ends in the step that empties it, when emptyMs is 0',
      policy: { emptyMs: 0 },
      given: [create('ann'), at(MINUTE)],
      act: tick(),
      events: ['2 member:left ann lost', '3 host:changed nobody', '4 room:closed empty'],
      evicted: ['ann lost'],
      seats: 'no room',
    },
  ])('$rule', check);

  test('that ends lets its code cool from that time', () => {
    const harness = createHarness();
    run(harness, create('ann'), at(30 * MINUTE));
    expect(ticked(harness, [ann]).poolStats).toEqual({ occupied: 0, cooling: 1, nextFreeInMs: 10 * MINUTE });
  });

  test('ends before another one with a later deadline', () => {
    const harness = createHarness();
    run(
      harness,
      create('ann', { ref: 1 }),
      at(-1),
      create('bob', { ref: 2 }),
      at(0),
      create('cat', { ref: 3 }),
      at(HOUR),
    );
    const held = [ann, keyOf('bob', { code: '100107', ref: 2 }), keyOf('cat', { code: '100207', ref: 3 })];
    expect(evictedOf(ticked(harness, held))).toEqual(['bob idle', 'ann idle', 'cat idle']);
  });
});

describe('cooled codes', () => {
  test.each([
    { rule: 'cool on a moment before', now: 10 * MINUTE - 1, cooling: 1, nextFreeInMs: 1 },
    { rule: 'are free at their time', now: 10 * MINUTE, cooling: 0, nextFreeInMs: null },
  ])('$rule', ({ now, cooling, nextFreeInMs }) => {
    const harness = createHarness();
    run(harness, create('ann'), close('ann'), at(now));
    expect(ticked(harness).poolStats).toEqual({ occupied: 0, cooling, nextFreeInMs });
    expect(harness.shard.cooling.size).toBe(cooling);
  });

  test('without a cool-down are free in the step that ends the room', () => {
    const harness = createHarness({ cooldownMs: 0 });
    run(harness, create('ann'), at(HOUR));
    expect(ticked(harness, [ann]).poolStats).toEqual({ occupied: 0, cooling: 0, nextFreeInMs: null });
    expect([harness.shard.rooms.size, harness.shard.cooling.size]).toEqual([0, 0]);
  });
});
