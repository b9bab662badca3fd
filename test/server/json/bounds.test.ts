/** The bounds of JSON text, counted before it is parsed, beside what a parser makes of it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../../src/protocol/limits.ts';
import { whyOutOfBounds } from '../../../src/server/json/bounds.ts';

const NONE = { depth: 0, values: 0 };
const MANY = LIMITS.values - 1;
const TOO_MANY = `More than ${LIMITS.values} values.`;

const list = (count: number, value: string, space = '') =>
  `[${space}${Array.from({ length: count }, () => value).join(`,${space}`)}${space}]`;
const object = (count: number, value: string) =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}" : ${value}`).join(' , ')}}`;

describe('the values of a text', () => {
  test.each([
    ['numbers', list(MANY, '1'), list(MANY + 1, '1')],
    ['numbers with white space', list(MANY, '1', ' \n\t\r'), list(MANY + 1, '1', ' \n\t\r')],
    ['empty arrays', list(MANY, '[]'), list(MANY + 1, '[]')],
    ['empty objects with white space', list(MANY, '{ }'), list(MANY + 1, '{ }')],
    ['strings', list(MANY, '""'), list(MANY + 1, '""')],
    ['strings of commas and brackets', list(MANY, '",[{\\","'), list(MANY + 1, '",[{\\","')],
    ['members', object(MANY, 'null'), object(MANY + 1, 'null')],
    ['members of one name', `{${'"a":1,'.repeat(MANY - 1)}"a":1}`, `{${'"a":1,'.repeat(MANY)}"a":1}`],
    ['pairs', list(Math.floor(MANY / 2), '[1]'), list(Math.floor(MANY / 2) + 1, '[1]')],
  ])('are counted: %s', (_what, most, tooMany) => {
    expect(whyOutOfBounds(most, NONE)).toBeUndefined();
    expect(whyOutOfBounds(tooMany, NONE)).toBe(TOO_MANY);
    expect(JSON.parse(tooMany)).toBeTypeOf('object');
  });

  test('are those of the payload, not of its envelope', () => {
    const text = `["signal",${list(MANY, '1')}]`;
    expect(whyOutOfBounds(text, { depth: 2, values: 2 })).toBeUndefined();
    expect(whyOutOfBounds(text, { depth: 2, values: 1 })).toBe(TOO_MANY);
  });

  test('are one, however long a string is, and whatever is in it', () => {
    expect(whyOutOfBounds(JSON.stringify(',[{"\\'.repeat(20_000)), NONE)).toBeUndefined();
  });

  test('of text that is no JSON are at least those before its first error', () => {
    for (const text of [`${'1,'.repeat(40_000)}`, `[${'[],'.repeat(20_000)}`, `{"a":${list(20_000, '0')}`]) {
      expect(whyOutOfBounds(text, NONE)).toBe(TOO_MANY);
    }
  });
});

const countValues = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, inner) => sum + countValues(inner), 1)
    : 1;
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('the bounds are those of the parsed value, whatever it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 1, 3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      // An envelope below zero makes the limit what the value has, or one less.
      const exact = { depth: depthOf(value) - LIMITS.depth, values: countValues(value) - LIMITS.values };
      expect(whyOutOfBounds(text, exact)).toBeUndefined();
      expect(whyOutOfBounds(text, { ...exact, values: exact.values - 1 })).toBe(TOO_MANY);
      if (depthOf(value) > 0)
        expect(whyOutOfBounds(text, { ...exact, depth: exact.depth - 1 })).toBe(`Nested deeper than ${LIMITS.depth}.`);
    }),
    { numRuns: 500 },
  );
});
