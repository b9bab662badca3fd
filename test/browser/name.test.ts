/** Any text typed or pasted as a name becomes one that the server accepts. */
import { expect, test } from 'vitest';
import { cleanName } from '../../src/protocol/display-name.ts';
import { displayName } from '../../src/protocol/snapshot.ts';

test.each([
  ['  Ada  ', 'Ada'],
  ['Ada\tLovelace\n', 'Ada Lovelace'],
  ['\u202eadA\u202c', 'adA'],
  ['\u2066A\u200bda\u2069\u200f', 'Ada'],
  ['\u200b\u200d\ufeff', null],
  ['\u2800 \u3164', null],
  ['\u0301\u0301', null],
  ['👨‍👩‍👧', '👨‍👩‍👧'],
  ['می‌خواهم', 'می‌خواهم'],
  ['Ada\u2028Lovelace\u3164', 'Ada Lovelace'],
  [`A${'\u0301'.repeat(63)}`, 'A\u0301\u0301\u0301'],
  ['\u0301Ada', 'Ada'],
  [`${'x'.repeat(62)}👩\u200d🚀`, `${'x'.repeat(62)}👩`],
  ['Ada\u{e0041}1\ufe0f', 'Ada1'],
  ['😀'.repeat(70), '😀'.repeat(64)],
  ['\ud800x', '\ufffdx'],
])('%j', (typed, name) => {
  expect(cleanName(typed)).toBe(name);
  if (name !== null) expect(displayName.parse(name)).toBe(name);
});
