/** Who is host after the host has gone, and when a room ends with its host. */
import { describe, expect, test } from 'vitest';
import { check, type Example } from './example.ts';
import { MINUTE, SECOND } from './fixtures.ts';
import { at, create, createHarness, FIRST_CODE, join, leave, resume, run, suspend, tick } from './harness.ts';

const two = [create('ann'), join('bob')];
const three = [...two, join('cat')];

describe('succession', () => {
  const ending = { closeOnHostLeave: true };

  test.each<Example>([
    {
      rule: 'the longest-present member follows a host that leaves',
      given: three,
      act: leave('ann'),
      events: ['4 member:left ann left', '5 host:changed bob'],
      seats: 'bob* cat',
    },
    {
      rule: 'a present member goes before one that is away',
      given: [...three, suspend('bob')],
      act: leave('ann'),
      events: ['5 member:left ann left', '6 host:changed cat'],
      seats: 'bob(away) cat*',
    },
    {
      rule: 'the longest of the away ones follows when none is present',
      given: [...three, suspend('cat'), suspend('bob')],
      act: leave('ann'),
      events: ['6 member:left ann left', '7 host:changed bob'],
      seats: 'bob*(away) cat(away)',
    },
    {
      rule: 'a room without members has no host',
      given: [create('ann')],
      act: leave('ann'),
      events: ['2 member:left ann left', '3 host:changed nobody'],
      seats: '-',
    },
    {
      rule: 'a member that leaves changes no host',
      given: three,
      act: leave('bob'),
      events: ['4 member:left bob left'],
      seats: 'ann* cat',
    },
    {
      rule: 'a host that is only away stays host',
      given: two,
      act: suspend('ann'),
      events: ['3 member:away ann'],
      seats: 'ann*(away) bob',
    },
    {
      rule: 'a host that is lost past the grace is followed too',
      given: [...two, at(SECOND), suspend('ann'), at(31 * SECOND)],
      act: tick(),
      events: ['4 member:left ann lost', '5 host:changed bob'],
      evicted: ['ann lost'],
      seats: 'bob*',
    },
    {
      rule: 'a former host that joins again is a member like others',
      given: [...two, leave('ann')],
      act: join('ann'),
      events: ['5 member:joined ann'],
      seats: 'bob* ann',
    },
    {
      rule: 'by policy the room ends with its host',
      policy: ending,
      given: three,
      act: leave('ann'),
      events: ['4 member:left ann left', '5 room:closed host-left'],
      evicted: ['bob host-left', 'cat host-left'],
      seats: 'no room',
    },
    {
      rule: 'with a lost host too, but not before',
      policy: ending,
      given: [...two, suspend('ann'), at(30 * SECOND)],
      act: tick(),
      events: ['4 member:left ann lost', '5 room:closed host-left'],
      evicted: ['ann lost', 'bob host-left'],
      seats: 'no room',
    },
    {
      rule: 'and not while the host may come back',
      policy: ending,
      given: [...two, suspend('ann'), at(29 * SECOND)],
      act: resume('ann', { session: 2 }),
      events: ['4 member:back ann'],
      seats: 'ann* bob',
    },
    {
      rule: 'nor with another member',
      policy: ending,
      given: two,
      act: leave('bob'),
      events: ['3 member:left bob left'],
      seats: 'ann*',
    },
  ])('$rule', check);

  test('the code of a room that ended with its host cools', () => {
    const harness = createHarness(ending);
    run(harness, ...two, at(SECOND), leave('ann'));
    expect([...harness.shard.cooling]).toEqual([[FIRST_CODE, SECOND + 10 * MINUTE]]);
  });
});
