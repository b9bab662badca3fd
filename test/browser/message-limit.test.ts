/** The rate limit of the chat, for each sender. */
import { expect, test } from 'vitest';
import { MessageLimit } from '../../client-demo/src/call/message-limit.ts';

test('twenty lines a second of each sender pass, the rest is dropped and reported once', () => {
  const gate = new MessageLimit();
  const passes = (from: string, lines: number, now: number) =>
    Array.from({ length: lines }, () => gate.pass(from, now));
  const first = passes('bob', 100, 0);
  expect(first.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'show'));
  expect(first[20]).toBe('warn');
  expect(new Set(first.slice(21))).toEqual(new Set(['drop']));
  expect(passes('cleo', 1, 0)).toEqual(['show']);
  // It goes on, and is told of again only after some calm.
  expect(passes('bob', 30, 1_000).filter((pass) => pass !== 'show')).not.toContain('warn');
  expect(passes('bob', 21, 15_000).at(-1)).toBe('warn');
});
