/** Every name that people see, of users and of rooms: what is stored is shown, and nothing else. */
import { describe, expect, test } from 'vitest';
import { handshake, REQUESTS } from '../../src/protocol/messages.ts';
import { displayName } from '../../src/protocol/snapshot.ts';

const { payload: create } = REQUESTS['room:create'];
const { profile } = REQUESTS;

const tags = (text: string): string =>
  Array.from(text, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
const TAG_FLAGS = ['gbeng', 'gbsct', 'gbwls'].map((region) => `🏴${tags(`${region}\u007f`)}`).join('');

describe('a name', () => {
  test.each([
    ['a letter', 'A', 'A'],
    ['spaces around it are cut off', '  Ann  Lee ', 'Ann  Lee'],
    ['64 letters', 'x'.repeat(64), 'x'.repeat(64)],
    ['64 characters outside of the first plane', '😀'.repeat(64), '😀'.repeat(64)],
    ['64 letters and spaces around', ` ${'x'.repeat(64)} `, 'x'.repeat(64)],
    ['any script', 'Зоя 李 مريم', 'Зоя 李 مريم'],
    ['joined characters', '👩‍🚀', '👩‍🚀'],
    ['a family with skin tones', '👩🏽‍❤️‍👨🏿 👨‍👩‍👧‍👦', '👩🏽‍❤️‍👨🏿 👨‍👩‍👧‍👦'],
    ['a rainbow flag, a country and keycaps', '🏳️‍🌈 🇳🇱 1️⃣#️⃣', '🏳️‍🌈 🇳🇱 1️⃣#️⃣'],
    ['the flags of England, Scotland and Wales', TAG_FLAGS, TAG_FLAGS],
    ['Persian with a joiner', 'می\u200cخواهم', 'می\u200cخواهم'],
    ['Sinhala', 'ශ්\u200dරී', 'ශ්\u200dරී'],
    ['Bengali', 'র\u200d্যাব', 'র\u200d্যাব'],
    ['Malayalam in the older spelling', 'മോഹന്\u200d ദാസ്', 'മോഹന്\u200d ദാസ്'],
    ['Devanagari', 'क्षत्रिय श्री', 'क्षत्रिय श्री'],
    ['Burmese, with five marks', 'လျှို့ဝှက်', 'လျှို့ဝှက်'],
    ['Tibetan', 'བསྒྲུབས', 'བསྒྲུབས'],
    ['Thai', 'กิ๊ก น้ำผึ้ง', 'กิ๊ก น้ำผึ้ง'],
    ['Hebrew with points', 'שָׁלוֹם', 'שָׁלוֹם'],
    ['Arabic with vowels', 'مُحَمَّدٌ', 'مُحَمَّدٌ'],
    ['Vietnamese, composed and not', 'Nguyễn Nguye\u0302\u0303n', 'Nguyễn Nguye\u0302\u0303n'],
    ['a Mongolian variant', '\u182d\u180b\u1820', '\u182d\u180b\u1820'],
    ['a Japanese variant', '辻\u{e0100}さん', '辻\u{e0100}さん'],
    ['Korean', '홍길동', '홍길동'],
    ['an emoji of a later Unicode', '\u{1fae9}', '\u{1fae9}'],
    ['punctuation', "O'Brien-Smith, Jr. (QA)", "O'Brien-Smith, Jr. (QA)"],
  ])('may be: %s', (_what, name, kept) => {
    expect(displayName.parse(name)).toBe(kept);
  });

  test.each([
    ['empty', ''],
    ['only spaces', ' \t\n\u3000'],
    ['65 letters', 'x'.repeat(65)],
    ['65 characters outside of the first plane', '😀'.repeat(65)],
    ['a line break inside', 'Ann\nLee'],
    ['a NUL', 'Ann\u0000'],
    ['an override of direction', 'Ann\u202exe.bob'],
    ['an isolate', '\u2066Ann'],
    ['nothing but marks without width', '\u200b\u2060'],
    ['a filler', '\u3164'],
    ['an escape sequence', '\u001b[31mAnn'],
    ['a C1 control', 'Ann\u0085Lee'],
    ['DEL', 'Ann\u007f'],
    ['the first half of a surrogate pair', 'Ann\ud83d'],
    ['the second half of a surrogate pair', '\ude00Ann'],
    ['a number', 5],
    ['null', null],
    ['a list', ['Ann']],
    ['a line separator', 'Ann\u2028Lee'],
    ['a paragraph separator', 'Ann\u2029Lee'],
    ['an Arabic letter mark', 'Ann\u061cLee'],
    ['a left-to-right mark', '\u200eAnn'],
    ['a right-to-left mark', 'Ann\u200f'],
    ['the end of an isolate', 'Ann\u2069'],
    ['an empty Braille cell', '\u2800'],
    ['an empty Braille cell behind a letter', 'Ann\u2800'],
    ['Hangul fillers', '\u115f\u1160'],
    ['a Hangul filler behind a letter', 'Ann\u3164'],
    ['a halfwidth filler', '\uffa0'],
    ['marks alone', '\u0301\u0301'],
    ['a mark at the beginning', '\u0301Ann'],
    ['a mark behind a space', 'Ann \u20dd'],
    ['63 marks on a letter', `A${'\u0301'.repeat(63)}`],
    ['five marks on a letter', `A${'\u0336'.repeat(5)}nn`],
    ['five marks, two of which are in the letter', '\u1ec5\u0336\u0337\u0338'],
    ['seven spacing marks', `क${'ः'.repeat(7)}`],
    ['a variation selector alone', '\ufe0f'],
    ['a variation selector behind a letter', 'Ann\ufe0f'],
    ['a variation selector of the second block', 'Ann\u{e0101}'],
    ['two variation selectors', '❤\ufe0f\ufe0f'],
    ['two selectors behind a Mongolian letter', '\u182d\u180b\u180b'],
    ['three selectors of two kinds behind one', '\u182d\u180b\u180c\u180b'],
    ['a selector behind a digit', 'Ann1\ufe0f'],
    ['a joiner alone', '\u200d'],
    ['a joiner behind a Latin letter', 'Ann\u200d'],
    ['a non-joiner between Latin letters', 'An\u200cn'],
    ['two joiners in a row', 'می\u200c\u200cخواهم'],
    ['a joiner at the end of Persian', 'می\u200c'],
    ['a joiner behind an emoji', '👩\u200d'],
    ['tag characters', 'Ann\u{e0041}\u{e0042}'],
    ['tag characters on another emoji', `😀${TAG_FLAGS.slice(2, 14)}`],
    ['a flag with an unknown tag sequence', '🏴\u{e0075}\u{e0073}\u{e0074}\u{e0078}\u{e007f}'],
    ['a flag whose tags do not end', '🏴\u{e0067}\u{e0062}'],
    ['a soft hyphen', 'An\u00adn'],
    ['a word joiner', 'An\u2060n'],
    ['a byte order mark inside', 'An\ufeffn'],
    ['a grapheme joiner', 'An\u034fn'],
    ['an invisible operator', 'An\u2063n'],
    ['an annotation', 'An\ufff9n'],
    ['an object replacement', '\ufffc'],
    ['private use', 'Ann\ue000'],
    ['private use of the last plane', 'Ann\u{10ffff}'],
    ['a noncharacter', 'Ann\uffff'],
    ['an unassigned character', 'Ann\u0378'],
    ['a blank note head', '\u{1d159}'],
  ])('may not be: %s', (_what, name) => {
    expect(displayName.safeParse(name).success).toBe(false);
    expect(create.safeParse({ name }).success).toBe(false);
    expect(handshake.safeParse({ v: 1, name }).success).toBe(false);
    expect(profile.payload.safeParse({ name }).success).toBe(false);
  });
});
