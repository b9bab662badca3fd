import { expect, test } from 'vitest';
import type { Chance } from '../../src/support/chance.ts';
import { retryAfterMs, retryDelayMs } from '../../src/webhooks/retry-delay.ts';

const HOUR = 3_600_000;
const least: Chance = { fraction: () => 0 };
const most: Chance = { fraction: () => 1 - 2 ** -53 };

test('the waits are 1 s, 2 s, 4 s, up to an hour', () => {
  const delays = [1, 2, 3, 4, 11, 12, 13, 50, 10_000].map((failures) => retryDelayMs(failures, undefined, least));
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 1_024_000, 2_048_000, HOUR, HOUR, HOUR]);
});

test('jitter shortens a wait by up to a quarter, and never lengthens it', () => {
  expect(retryDelayMs(1, undefined, most)).toBe(751);
  expect(retryDelayMs(50, undefined, most)).toBe(HOUR * 0.75 + 1);
});

test('a wait is longer when the receiver asks for it, up to an hour', () => {
  expect(retryDelayMs(1, 30_000, least)).toBe(30_000);
  expect(retryDelayMs(6, 1_000, least)).toBe(32_000);
  expect(retryDelayMs(1, 10 * HOUR, least)).toBe(HOUR);
});

test.each([
  [undefined, undefined],
  ['0', 0],
  ['120', 120_000],
  ['-1', undefined],
  ['soon', undefined],
  ['Tue, 14 Nov 2023 22:14:20 GMT', 60_000],
  ['Tue, 14 Nov 2023 22:12:20 GMT', undefined],
  ['9'.repeat(400), undefined],
])('Retry-After: %s', (header, ms) => {
  expect(retryAfterMs(header, 1_700_000_000_000)).toBe(ms);
});

test.each([
  'at most 2099',
  '1.5e3',
  '+1',
  '-1 2099',
  '2099-01-01',
  'Jan 1 2099',
  '5; 2099',
  '2099-01-01T00:00:00Z',
  ' ',
  '',
])('Retry-After: %j is neither seconds nor a date of HTTP', (header) => {
  expect(retryAfterMs(header, 1_700_000_000_000)).toBeUndefined();
});
