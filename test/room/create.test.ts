/** Rooms are opened: what the first snapshot says, which code they get, and what repeating a create gives. */
import { describe, expect, test } from 'vitest';
import { createPool } from '../../src/room/pool.ts';
import { HOUR, MINUTE, SECOND } from './fixtures.ts';
import {
  at,
  close,
  create,
  createHarness,
  FIRST_CODE,
  join,
  leave,
  outcomeWord,
  read,
  run,
  type Step,
  seatsOf,
  tick,
} from './harness.ts';

describe('the new room', () => {
  test('has its creator as host, is at revision 1, and gives no event', () => {
    const harness = createHarness();
    const outcome = run(
      harness,
      at(5_000),
      create('ann', {
        settings: { name: 'Monday', metadata: '{"a":1}' },
        profile: { name: 'Ann', mediaType: 'video' },
      }),
    );
    expect(outcome).toEqual({
      ok: true,
      events: [],
      room: {
        code: FIRST_CODE,
        ref: 'ROM202600000001',
        rev: 1,
        name: 'Monday',
        type: 'meeting',
        maxUsers: 4,
        access: 'open',
        locked: false,
        hostId: 'ann',
        createdAt: 5_000,
        expiresAt: 5_000 + 24 * 60 * MINUTE,
        metadata: { a: 1 },
        members: [
          { userId: 'ann', name: 'Ann', role: 'host', state: 'present', seq: 1, joinedAt: 5_000, mediaType: 'video' },
        ],
      },
    });
  });

  test('without a name or a profile says null, and leaves out what is not there', () => {
    const harness = createHarness();
    const outcome = run(harness, create('ann'));
    expect(outcome).toMatchObject({ room: { name: null, members: [{ name: null }] } });
    expect(outcome).not.toHaveProperty('room.metadata');
    expect(outcome).not.toHaveProperty('room.members.0.mediaType');
  });
});

interface Example {
  readonly rule: string;
  readonly given: readonly Step[];
  readonly act: Step;
  readonly gives: object;
}

const used = (code: string) => ({ ok: true, room: { code } });
const full = (nextFreeInMs: number | null) => ({ ok: false, reason: 'FULL', nextFreeInMs });
const replayed = (code: string, ref: number) => ({ ok: false, reason: 'REPLAYED', code, ref: `ROM20260000000${ref}` });

describe('the code', () => {
  // Shard 7 of this pool holds 100007 and 100107. A released code cools for 10 minutes.
  const bothTaken = [create('ann', { ref: 1 }), create('bob', { ref: 2 })];
  const second = { code: '100107', ref: 2 };

  test.each<Example>([
    { rule: 'is a free candidate', given: [], act: create('ann', { candidates: ['100107'] }), gives: used('100107') },
    {
      rule: 'is any free one, when no candidate is',
      given: [create('ann', { candidates: ['100107'] })],
      act: create('bob', { ref: 2, candidates: ['100107'], searchFrom: 1 }),
      gives: used('100007'),
    },
    {
      rule: 'is not to be had when all are occupied',
      given: bothTaken,
      act: create('cat', { ref: 3 }),
      gives: full(null),
    },
    {
      rule: 'is not one that cools: the refusal says how long the first of them takes',
      given: [...bothTaken, at(1_000), close('bob', second), at(2_000), close('ann')],
      act: create('cat', { ref: 3 }),
      gives: full(10 * MINUTE - 1_000),
    },
    {
      rule: 'is not a cooling candidate either',
      given: [create('ann'), close('ann')],
      act: create('cat', { ref: 3, candidates: ['100007'] }),
      gives: used('100107'),
    },
    {
      rule: 'is still cooling a moment before its time',
      given: [...bothTaken, close('ann'), at(10 * MINUTE - 1)],
      act: create('cat', { ref: 3 }),
      gives: full(1),
    },
    {
      rule: 'has cooled at its time, whether or not a tick has come by',
      given: [...bothTaken, close('ann'), at(10 * MINUTE)],
      act: create('cat', { ref: 3 }),
      gives: used('100007'),
    },
    {
      rule: 'is the longest cooled of those that no tick has freed yet',
      given: [...bothTaken, at(1_000), close('bob', second), at(2_000), close('ann'), at(20 * MINUTE)],
      act: create('cat', { ref: 3 }),
      gives: used('100107'),
    },
    {
      rule: 'is a free one rather than a cooled one',
      given: [create('ann'), close('ann'), at(20 * MINUTE)],
      act: create('cat', { ref: 3, candidates: ['100007'] }),
      gives: used('100107'),
    },
    {
      rule: 'is free again after the tick',
      given: [create('ann'), close('ann'), at(10 * MINUTE), tick()],
      act: create('cat', { ref: 3, candidates: ['100007'] }),
      gives: used('100007'),
    },
    {
      rule: 'does not cool while its room is only empty',
      given: [...bothTaken, leave('ann')],
      act: create('cat', { ref: 3 }),
      gives: full(null),
    },
  ])('$rule', ({ given, act, gives }) => {
    const harness = createHarness({}, createPool(6, 200));
    expect(run(harness, ...given, act)).toMatchObject(gives);
  });

  test('taken again stands for the new room only', () => {
    const harness = createHarness({}, createPool(6, 100));
    run(harness, create('ann', { ref: 1 }), join('bob'), close('ann'), at(10 * MINUTE), create('cat', { ref: 2 }));
    expect(outcomeWord(run(harness, join('bob', { ref: 1 })))).toBe('CODE_EXPIRED');
    expect(outcomeWord(run(harness, leave('ann', { ref: 1 })))).toBe('CODE_EXPIRED');
    expect(outcomeWord(run(harness, close('ann', { ref: 1 })))).toBe('CODE_EXPIRED');
    expect(outcomeWord(run(harness, read({ ref: 1 })))).toBe('CODE_EXPIRED');
    expect(outcomeWord(run(harness, join('bob', { ref: 2 })))).toBe('ok');
    expect(seatsOf(harness)).toBe('cat* bob');
    expect(harness.shard.cooling.size).toBe(0);
  });
});

describe('a create with an idempotency key', () => {
  const first = create('ann', { ref: 1, idempotencyKey: 'ann:k' });
  const again = create('ann', { ref: 2, idempotencyKey: 'ann:k' });

  test.each<Example>([
    { rule: 'done again names the first room', given: [first], act: again, gives: replayed('100007', 1) },
    {
      rule: 'done with another key opens another',
      given: [first],
      act: create('ann', { ref: 2, idempotencyKey: 'ann:l' }),
      gives: used('100107'),
    },
    { rule: 'done without one too', given: [first], act: create('ann', { ref: 2 }), gives: used('100107') },
    {
      rule: 'names it though the room has ended',
      given: [first, close('ann')],
      act: again,
      gives: replayed('100007', 1),
    },
    {
      rule: 'holds to the end of its time',
      given: [first, at(10 * MINUTE - 1)],
      act: again,
      gives: replayed('100007', 1),
    },
    { rule: 'and no longer', given: [first, at(10 * MINUTE)], act: again, gives: used('100107') },
    {
      rule: 'counts from the later create then',
      given: [first, at(10 * MINUTE), again, at(19 * MINUTE)],
      act: first,
      gives: replayed('100107', 2),
    },
    { rule: 'outlives a tick', given: [first, at(MINUTE), tick()], act: again, gives: replayed('100007', 1) },
  ])('$rule', ({ given, act, gives }) => {
    expect(run(createHarness(), ...given, act)).toMatchObject(gives);
  });

  test('that found no code leaves none', () => {
    const harness = createHarness({}, createPool(6, 100));
    run(harness, create('ann', { ref: 1 }), create('bob', { ref: 2, idempotencyKey: 'bob:k' }));
    expect(harness.shard.idempotency.size).toBe(0);
    run(harness, close('ann'), at(10 * MINUTE));
    expect(run(harness, create('bob', { ref: 3, idempotencyKey: 'bob:k' }))).toMatchObject(used('100007'));
  });

  test('is forgotten by the first tick after its time', () => {
    const harness = createHarness();
    run(harness, first, at(10 * MINUTE - 1), tick());
    expect(harness.shard.idempotency.size).toBe(1);
    run(harness, at(10 * MINUTE), tick());
    expect(harness.shard.idempotency.size).toBe(0);
  });
});

test('the statistics count occupied and cooling codes, and say how long until the next code has cooled', () => {
  const harness = createHarness();
  const stats: Step = (it) => it.apply({ kind: 'stats', shard: 7 });
  expect(run(harness, stats)).toEqual({ ok: true, occupied: 0, cooling: 0, nextFreeInMs: null });
  run(harness, create('ann', { ref: 1 }), create('bob', { ref: 2 }), create('cat', { ref: 3 }));
  expect(run(harness, stats)).toEqual({ ok: true, occupied: 3, cooling: 0, nextFreeInMs: null });
  run(harness, at(SECOND), close('bob', { code: '100107', ref: 2 }), at(2 * SECOND), close('ann'));
  expect(run(harness, stats)).toEqual({ ok: true, occupied: 1, cooling: 2, nextFreeInMs: 10 * MINUTE - SECOND });
  expect(run(harness, at(HOUR), stats)).toMatchObject({ cooling: 2, nextFreeInMs: 0 });
});
