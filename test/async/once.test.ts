import { expect, test } from 'vitest';
import { once } from '../../src/support/async/once.ts';

test('callers share one run, while it is under way and after it', async () => {
  let runs = 0;
  const open = once(async () => {
    runs += 1;
  });
  await Promise.all([open(), open()]);
  await open();
  expect(runs).toBe(1);
});

test('a failure reaches its callers, and the next call runs the work again', async () => {
  let runs = 0;
  const open = once(async () => {
    runs += 1;
    if (runs === 1) throw new Error('away');
  });
  const outcomes = await Promise.allSettled([open(), open()]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await open();
  expect(runs).toBe(2);
});

test('the work runs again after it was forgotten', async () => {
  let runs = 0;
  const open = once(async () => {
    runs += 1;
  });
  await open();
  open.forget();
  await open();
  expect(runs).toBe(2);
});
