import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RoomCode } from '../../src/protocol/ids.ts';
import { ROOM_CODE_PATTERN } from '../../src/protocol/ids.ts';
import { allCodes, allocate, codeAt, createPool, indexOf, type Pool, SHARDS, shardOf } from '../../src/room/pool.ts';
import { code } from './fixtures.ts';

describe('geometry', () => {
  test.each([
    // digits, size, codes of a shard, first and last code of shard 0, first and last code of shard 99
    { digits: 6, size: undefined, perShard: 9_000, codes: ['100000', '999900', '100099', '999999'] },
    { digits: 7, size: undefined, perShard: 90_000, codes: ['1000000', '9999900', '1000099', '9999999'] },
    { digits: 8, size: undefined, perShard: 900_000, codes: ['10000000', '99999900', '10000099', '99999999'] },
    { digits: 6, size: 100, perShard: 1, codes: ['100000', '100000', '100099', '100099'] },
    { digits: 6, size: 300, perShard: 3, codes: ['100000', '100200', '100099', '100299'] },
    { digits: 8, size: 1_000, perShard: 10, codes: ['10000000', '10000900', '10000099', '10000999'] },
  ])('$digits digits, $size codes', ({ digits, size, perShard, codes }) => {
    const pool = createPool(digits, size);
    expect(pool).toEqual({ digits, perShard });
    const last = perShard - 1;
    expect([codeAt(pool, 0, 0), codeAt(pool, 0, last), codeAt(pool, 99, 0), codeAt(pool, 99, last)]).toEqual(codes);
  });

  test.each([
    [5, undefined, /6 to 8 digits/],
    [9, undefined, /6 to 8 digits/],
    [6.5, undefined, /6 to 8 digits/],
    [Number.NaN, undefined, /6 to 8 digits/],
    [6, 0, /multiple of 100/],
    [6, 99, /multiple of 100/],
    [6, 150, /multiple of 100/],
    [6, 100.5, /multiple of 100/],
    [6, 900_100, /up to 900000/],
    [6, Number.NaN, /multiple of 100/],
  ])('no pool of %s digits and %s codes', (digits, size, message) => {
    expect(() => createPool(digits, size)).toThrow(message);
  });

  test('the codes of 6 digits are 900,000, and so on', () => {
    expect([6, 7, 8].map(allCodes)).toEqual([900_000, 9_000_000, 90_000_000]);
  });

  test('every code of 6 digits has one place, and every place one code', () => {
    const pool = createPool(6);
    for (let number = 100_000; number <= 999_999; number += 1) {
      const text = code(String(number));
      if (codeAt(pool, shardOf(text), indexOf(pool, text)) !== text) expect.fail(`${text} is not where it should be`);
    }
  });

  test('a code and its place are each other’s inverse, at any length', () => {
    const place = fc.integer({ min: 6, max: 8 }).chain((digits) =>
      fc.record({
        digits: fc.constant(digits),
        shard: fc.integer({ min: 0, max: SHARDS - 1 }),
        index: fc.integer({ min: 0, max: allCodes(digits) / SHARDS - 1 }),
      }),
    );
    fc.assert(
      fc.property(place, ({ digits, shard, index }) => {
        const pool = createPool(digits);
        const text = codeAt(pool, shard, index);
        expect(text).toMatch(ROOM_CODE_PATTERN);
        expect(text).toHaveLength(digits);
        expect([shardOf(text), indexOf(pool, text)]).toEqual([shard, index]);
      }),
    );
  });
});

describe('allocate', () => {
  // Shard 7 of this pool holds 100007, 100107, 100207 and 100307.
  const pool: Pool = createPool(6, 400);
  const all = ['100007', '100107', '100207', '100307'];
  const allBut = (...free: string[]) => all.filter((text) => !free.includes(text));

  test.each([
    {
      rule: 'the first candidate, when it is free',
      taken: [],
      candidates: ['100207', '100107'],
      searchFrom: 0,
      got: '100207',
    },
    {
      rule: 'the next one, when it is not',
      taken: ['100207'],
      candidates: ['100207', '100107'],
      searchFrom: 0,
      got: '100107',
    },
    {
      rule: 'a candidate rather than the search',
      taken: ['100007'],
      candidates: ['100307'],
      searchFrom: 1,
      got: '100307',
    },
    {
      rule: 'the search begins at searchFrom',
      taken: ['100307'],
      candidates: ['100307'],
      searchFrom: 2,
      got: '100207',
    },
    { rule: 'and goes on upwards', taken: ['100007'], candidates: [], searchFrom: 0, got: '100107' },
    { rule: 'round the end', taken: ['100207', '100307'], candidates: [], searchFrom: 2, got: '100007' },
    {
      rule: 'to the code just before searchFrom',
      taken: allBut('100107'),
      candidates: [],
      searchFrom: 2,
      got: '100107',
    },
    { rule: 'a start beyond the end is taken round it', taken: [], candidates: [], searchFrom: 5, got: '100107' },
    {
      rule: 'the last free code is found from below',
      taken: allBut('100307'),
      candidates: all,
      searchFrom: 0,
      got: '100307',
    },
    { rule: 'and from itself', taken: allBut('100307'), candidates: [], searchFrom: 3, got: '100307' },
    { rule: 'nothing, when all are taken', taken: all, candidates: all, searchFrom: 1, got: undefined },
  ])('$rule', ({ taken, candidates, searchFrom, got }) => {
    expect(allocate(pool, 7, (text) => taken.includes(text), candidates.map(code), searchFrom)).toBe(got);
  });

  test('the one code of a pool of 100', () => {
    const smallest = createPool(6, 100);
    expect(allocate(smallest, 42, () => false, [], 8_999)).toBe('100042');
    expect(allocate(smallest, 42, () => true, [], 0)).toBeUndefined();
  });

  test('gives out every code of a full-size shard once, then none', () => {
    const full = createPool(6);
    const taken = new Set<RoomCode>();
    for (let count = 0; count < full.perShard; count += 1) {
      const got = allocate(full, 7, (text) => taken.has(text), [], count);
      if (got === undefined || taken.has(got) || shardOf(got) !== 7) expect.fail(`the ${count}th code is ${got}`);
      taken.add(got);
    }
    expect(allocate(full, 7, (text) => taken.has(text), [], 4_500)).toBeUndefined();
  });

  test('finds a free code whatever is taken, if there is one', () => {
    const codes = all.map(code);
    const anyOf = fc.subarray(codes);
    fc.assert(
      fc.property(anyOf, anyOf, fc.nat(20), (taken, candidates, from) => {
        const got = allocate(pool, 7, (text) => taken.includes(text), candidates, from);
        const free = codes.filter((text) => !taken.includes(text));
        const drawn = candidates.filter((text) => free.includes(text));
        expect(drawn.length > 0 ? drawn.slice(0, 1) : [...free, undefined]).toContain(got);
        expect(got === undefined).toBe(free.length === 0);
      }),
    );
  });
});
