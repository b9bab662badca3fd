/** The tick renews the seats that the node holds, returns the lost ones, and limits the work of one step. */
import { describe, expect, test } from 'vitest';
import type { SeatKey, Tick } from '../../src/room/commands.ts';
import { createPool } from '../../src/room/pool.ts';
import { eventsOf } from './events-in-words.ts';
import { HOUR, MINUTE, node, QUIET_TICK, refOf, SECOND } from './fixtures.ts';
import {
  at,
  close,
  create,
  createHarness,
  type Harness,
  join,
  keyOf,
  leave,
  resume,
  run,
  seatsOf,
  suspend,
  tick,
} from './harness.ts';

const two = [create('ann'), join('bob')];
const ann = keyOf('ann');
const bob = keyOf('bob');

const ticked = (harness: Harness, held: readonly SeatKey[] = [], limit = 100) =>
  harness.apply<Tick>({ kind: 'tick', shard: 7, held, limit, ...QUIET_TICK });

describe('held seats', () => {
  test('are renewed without an event or a new revision', () => {
    const harness = createHarness();
    run(harness, ...two, at(59 * SECOND));
    expect(ticked(harness, [ann, bob])).toEqual({
      ok: true,
      events: [],
      evicted: [],
      lost: [],
      epoch: 1,
      recoveringMs: 0,
      infos: [],
      revs: [{ code: '100007', ref: 'ROM202600000001', rev: 2, seats: 2 }],
      more: false,
      poolStats: { occupied: 1, cooling: 0, nextFreeInMs: null },
    });
    expect(harness.room().seats.map(({ leaseUntil }) => leaseUntil)).toEqual([119 * SECOND, 119 * SECOND]);
  });

  test('are renewed before anything is reaped: a late node loses no seat', () => {
    const harness = createHarness();
    run(harness, ...two, at(10 * MINUTE));
    expect(eventsOf(ticked(harness, [ann, bob]))).toEqual([]);
  });

  test('do not make a room active by the renewal alone', () => {
    const harness = createHarness();
    run(harness, create('ann'), at(SECOND), tick([ann]));
    expect(harness.room().lastActive).toBe(0);
  });

  test('that are away are not renewed: only their own session can resume them', () => {
    const harness = createHarness();
    run(harness, ...two, suspend('bob'), at(30 * SECOND));
    const outcome = ticked(harness, [ann, bob]);
    expect(eventsOf(outcome)).toEqual(['4 member:left bob lost']);
    expect(outcome.lost).toEqual([]);
  });

  test.each([
    { rule: 'of a room that has ended', given: [close('ann')], key: ann, revs: [] },
    { rule: 'of another room under the same code', given: [], key: keyOf('ann', { ref: 9 }), revs: [] },
    { rule: 'that were left', given: [leave('bob')], key: bob, revs: [3] },
    { rule: 'that a later session has taken', given: [resume('bob', { session: 2 })], key: bob, revs: [4] },
  ])('are returned as lost: those $rule', ({ given, key, revs }) => {
    const harness = createHarness();
    run(harness, ...two, ...given);
    const outcome = ticked(harness, [key]);
    expect(outcome.lost).toEqual([key]);
    expect(outcome.revs.map(({ rev }) => rev)).toEqual(revs);
  });

  test('return the revision of each room once, as of after the reaping', () => {
    const harness = createHarness();
    run(harness, ...two, create('cat', { ref: 2 }), at(MINUTE));
    const cat = keyOf('cat', { code: '100107', ref: 2 });
    const outcome = ticked(harness, [ann, cat, keyOf('dan')]);
    expect(eventsOf(outcome)).toEqual(['3 member:left bob lost']);
    expect(outcome.revs).toEqual([
      { code: '100007', ref: refOf(1), rev: 3, seats: 1 },
      { code: '100107', ref: refOf(2), rev: 1, seats: 1 },
    ]);
  });
});

describe('the limit', () => {
  const guests = ['bob', 'cat', 'dan'];

  test('applies to seats: the rest is left for the next step, and `more` is true', () => {
    const harness = createHarness();
    run(harness, create('ann'), ...guests.map((name) => join(name)), at(MINUTE));
    expect(ticked(harness, [ann], 2)).toMatchObject({ more: true, events: [{}, {}] });
    expect(seatsOf(harness)).toBe('ann* dan');
    expect(ticked(harness, [ann], 2)).toMatchObject({ more: false, events: [{}] });
    expect(seatsOf(harness)).toBe('ann*');
  });

  test('that is reached exactly leaves no rest', () => {
    const harness = createHarness();
    run(harness, create('ann'), ...guests.map((name) => join(name)), at(MINUTE));
    expect(ticked(harness, [ann], 3)).toMatchObject({ more: false, events: [{}, {}, {}] });
  });

  test('applies to rooms and to cooled codes separately', () => {
    const harness = createHarness({ cooldownMs: MINUTE, graceMs: 24 * HOUR, leaseMs: 24 * HOUR }, createPool(6, 500));
    const names = ['ann', ...guests];
    const place = (index: number) => ({ code: `100${index}07`, ref: index });
    run(harness, ...names.map((name, index) => create(name, place(index))));
    run(harness, close('ann', place(0)), close('bob', place(1)), create('eve', { ref: 8 }), at(HOUR));
    expect(ticked(harness, [], 1)).toMatchObject({ more: true, poolStats: { occupied: 2, cooling: 2 } });
    expect(ticked(harness, [], 1)).toMatchObject({ more: true, poolStats: { occupied: 1, cooling: 2 } });
    expect(ticked(harness, [], 1)).toMatchObject({ more: false, poolStats: { occupied: 0, cooling: 3 } });
  });

  test('does not apply to renewals', () => {
    const harness = createHarness();
    run(harness, create('ann'), ...guests.map((name) => join(name)), at(MINUTE));
    expect(eventsOf(ticked(harness, [ann, ...guests.map((name) => keyOf(name))], 1))).toEqual([]);
  });
});

test('a tick of a second node finds nothing that the first has reaped', () => {
  const harness = createHarness();
  run(harness, ...two, join('cat', { node: 'node-b' }), at(MINUTE));
  const held = keyOf('cat');
  expect(ticked(harness, [ann]).evicted.map(({ userId, nodeId }) => [userId, nodeId])).toEqual([
    ['bob', 'node-a'],
    ['cat', node('node-b')],
  ]);
  expect(ticked(harness, [held])).toMatchObject({ events: [], evicted: [], lost: [held] });
});
