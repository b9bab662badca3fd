/** Format of references, and validation of item types. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ROOM_REF_PATTERN } from '../../src/protocol/ids.ts';
import { parseReference, ReferenceMalformed, writeReference } from '../../src/reference/format.ts';
import { ITEM_TYPES, ItemTypeError, itemTypesWith, readItemTypes } from '../../src/reference/item-types.ts';

test('the built-in item types have fixed numbers, prefixes and widths', () => {
  expect(ITEM_TYPES).toEqual({
    order: { number: 1, prefix: 'ORD', width: 8 },
    user: { number: 2, prefix: 'USR', width: 8 },
    product: { number: 3, prefix: 'PRO', width: 8 },
    room: { number: 4, prefix: 'ROM', width: 8 },
  });
});

test('a sequence is padded, and may exceed its width', () => {
  expect(writeReference(ITEM_TYPES.room, 2026, 42)).toBe('ROM202600000042');
  expect(writeReference(ITEM_TYPES.room, 2026, 99_999_999)).toBe('ROM202699999999');
  expect(writeReference(ITEM_TYPES.room, 2026, 100_000_000)).toBe('ROM2026100000000');
  expect(writeReference(ITEM_TYPES.room, 2026, 1)).toMatch(ROOM_REF_PATTERN);
});

test('a written reference is parsed back, and different numbers have different references', () => {
  const types = itemTypesWith({ invoice: { number: 5, prefix: 'INVX', width: 3 } });
  const number = fc.record({
    type: fc.constantFrom(...Object.keys(types)),
    year: fc.integer({ min: 1970, max: 9_999 }),
    sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  });
  const write = ({ type, year, sequence }: { type: string; year: number; sequence: number }) =>
    writeReference(types[type] ?? expect.unreachable(), year, sequence);
  fc.assert(
    fc.property(number, (one) => {
      expect(parseReference(types, write(one))).toEqual(one);
    }),
  );
  fc.assert(
    fc.property(number, number, (one, other) => {
      expect(write(one) === write(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
  );
});

test.each([
  ['', /no prefix/],
  ['ROM2026', /no prefix/],
  ['rom202600000042', /no prefix/],
  ['XYZ202600000042', /no prefix/],
  ['ROM20260000042', /not padded/],
  ['ROM2026000000042', /not padded/],
  ['ROM202600000000', /out of range/],
  ['ROM202699999999999999999', /out of range/],
  ['ROM202600000042 ', /no prefix/],
  ['ROM2026٠٠٠٠٠٠٤٢', /no prefix/],
])('%j is refused as a reference', (reference, reason) => {
  const read = () => parseReference(ITEM_TYPES, reference);
  expect(read).toThrow(ReferenceMalformed);
  expect(read).toThrow(reason);
});

describe('a custom item type', () => {
  test('is parsed from the format of the option', () => {
    expect(readItemTypes(['invoice=5:INV:8', 'credit-note=6:CN:10'])).toEqual({
      invoice: { number: 5, prefix: 'INV', width: 8 },
      'credit-note': { number: 6, prefix: 'CN', width: 10 },
    });
    expect(readItemTypes([])).toEqual({});
    expect(Object.keys(readItemTypes(['constructor=5:INV:8']))).toEqual(['constructor']);
  });

  test.each([
    ['invoice', /must be such as/],
    ['invoice=5:INV', /must be such as/],
    ['Invoice=5:INV:8', /needs a name/],
    ['__proto__=5:INV:8', /needs a name/],
    ['invoice=0:INV:8', /needs a number/],
    ['invoice=5:I1:8', /capital letters/],
    ['invoice=5:INV:0', /needs a width/],
    ['order=5:INV:8', /exists already/],
    ['invoice=4:INV:8', /is that of room/],
    ['invoice=5:ROM:8', /is that of room/],
  ])('%s is refused', (entry, reason) => {
    expect(() => readItemTypes([entry])).toThrow(ItemTypeError);
    expect(() => readItemTypes([entry])).toThrow(reason);
  });

  test('is refused when its name is there twice', () => {
    expect(() => readItemTypes(['invoice=5:INV:8', 'invoice=6:INW:8'])).toThrow(/there twice/);
  });
});
