import { expect, test } from 'vitest';
import { backoffMs, jittered } from '../../src/support/backoff.ts';

test('waits double up to the cap, however many attempts there were', () => {
  const waits = [0, 1, 2, 3, 4, 100, 100_000].map((attempt) => backoffMs(attempt, { firstMs: 100, maxMs: 1_000 }));
  expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000]);
});

test('another factor than two', () => {
  expect([0, 1, 2].map((attempt) => backoffMs(attempt, { firstMs: 10, maxMs: 1_000, factor: 3 }))).toEqual([
    10, 30, 90,
  ]);
});

test.each([
  { fraction: 0, wait: 1_500 },
  { fraction: 0.5, wait: 1_000 },
  { fraction: 1 - 2 ** -53, wait: 501 },
])('with chance $fraction, 1,000 ms from a half to one and a half times become $wait ms', ({ fraction, wait }) => {
  expect(jittered(1_000, { from: 0.5, to: 1.5 }, { fraction: () => fraction })).toBe(wait);
});
