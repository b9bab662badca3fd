import { describe, expect, test } from 'vitest';
import { normaliseTypedCode, ROOM_CODE_PATTERN, ROOM_REF_PATTERN, USER_ID_PATTERN } from '../../src/protocol/ids.ts';

describe('a code, the way people type it', () => {
  test.each([
    ['plain', '482913'],
    ['in groups', '482 913'],
    ['with dashes', '482-913'],
    ['with a long dash', '482 – 913'],
    ['with dots and underscores', '48.29_13'],
    ['with a middle dot', '482·913'],
    ['with spaces around', '  482913\n'],
    ['with a no-break space', '482\u00a0913'],
    ['with an ideographic space', '482\u3000913'],
    ['pasted with direction marks', '\u200e482913\u200f'],
    ['in full-width digits', '４８２９１３'],
    ['in full-width digits with a full-width dash', '４８２－９１３'],
    ['in Arabic-Indic digits', '٤٨٢٩١٣'],
    ['in Persian digits', '۴۸۲۹۱۳'],
    ['in Devanagari digits', '४८२९१३'],
    ['in Bengali digits', '৪৮২৯১৩'],
    ['in bold digits of mathematics', '𝟒𝟖𝟐𝟗𝟏𝟑'],
    ['in double-struck digits', '𝟜𝟠𝟚𝟡𝟙𝟛'],
    ['in digits of several scripts', '4८２٩1۳'],
  ])('%s', (_how, typed) => {
    expect(normaliseTypedCode(typed)).toBe('482913');
  });

  test.each([
    ['٠١٢٣٤٥٦٧٨٩', '0123456789'],
    ['۰۱۲۳۴۵۶۷۸۹', '0123456789'],
    ['०१२३४५६७८९', '0123456789'],
    ['０１２３４５６７８９', '0123456789'],
    ['𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡', '0123456789'],
    ['𝟶𝟷𝟸𝟹𝟺𝟻𝟼𝟽𝟾𝟿', '0123456789'],
  ])('every digit of %s', (digits, ascii) => {
    for (const [index, digit] of Array.from(digits).entries()) {
      expect(normaliseTypedCode(`1${digit}2345`)).toBe(`1${ascii[index]}2345`);
    }
  });

  test.each([
    ['nothing', ''],
    ['only separators', ' - '],
    ['too short', '48291'],
    ['too long', '4829130'],
    ['a zero in front', '048291'],
    ['a foreign zero in front', '٠٤٨٢٩١'],
    ['a letter', '48291O'],
    ['a sign', '+482913'],
    ['a slash', '482/913'],
    ['a number of another notation', '4.8e5'],
    ['a superscript', '48291³'],
    ['a circled digit', '48291③'],
    ['a Han numeral', '48291三'],
    ['a Roman numeral', '48291Ⅲ'],
    ['half of a surrogate pair', '482913\ud800'],
    ['an invisible letter', '482913\u0000'],
  ])('is not one: %s', (_why, typed) => {
    expect(normaliseTypedCode(typed)).toBeUndefined();
  });

  test('has as many digits as the server gives', () => {
    expect(normaliseTypedCode('4829 1357', 8)).toBe('48291357');
    expect(normaliseTypedCode('482-9135', 7)).toBe('4829135');
    expect(normaliseTypedCode('482913', 7)).toBeUndefined();
    expect(normaliseTypedCode('4829135', 6)).toBeUndefined();
    expect(normaliseTypedCode('48291', 5)).toBeUndefined();
    expect(normaliseTypedCode('482913579', 9)).toBeUndefined();
  });
});

describe('the patterns', () => {
  test.each([
    { pattern: ROOM_CODE_PATTERN, good: ['100000', '999999', '1000000', '99999999'] },
    { pattern: ROOM_REF_PATTERN, good: ['ROM202600000042', `ROM2026${'9'.repeat(36)}`] },
    { pattern: USER_ID_PATTERN, good: ['a', 'A-z_0', 'x'.repeat(64)] },
  ])('$pattern takes', ({ pattern, good }) => {
    for (const text of good) expect(text).toMatch(pattern);
  });

  test.each([
    {
      pattern: ROOM_CODE_PATTERN,
      bad: ['', '99999', '012345', '999999999', '100000\n', ' 100000', '٤٨٢٩١٣', '1e5000'],
    },
    { pattern: ROOM_REF_PATTERN, bad: ['', 'ROM2026', 'rom202600000042', 'ROM202600000042\n', 'ROMS202600000042'] },
    { pattern: USER_ID_PATTERN, bad: ['', 'x'.repeat(65), 'a b', 'a\n', 'ä', 'a:b', '{a}', '__proto__ '] },
  ])('$pattern does not', ({ pattern, bad }) => {
    for (const text of bad) expect(text).not.toMatch(pattern);
  });
});
