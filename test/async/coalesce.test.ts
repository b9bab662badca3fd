import { expect, test } from 'vitest';
import { coalesce } from '../../src/support/async/coalesce.ts';
import { systemClock, turn } from '../../src/support/clock.ts';

test('requests during a run become one more run', async () => {
  const ends: (() => void)[] = [];
  const work = coalesce(() => new Promise((resolve) => void ends.push(resolve)));
  work.request();
  work.request();
  work.request();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await turn(systemClock);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await turn(systemClock);
  expect(ends).toHaveLength(2);
  work.request();
  expect(ends).toHaveLength(3);
});

test('its end is the end of the run under way', async () => {
  let end = () => {};
  const work = coalesce(() => new Promise((resolve) => (end = resolve)));
  await work.ended();
  work.request();
  let ended = false;
  const waiting = work.ended().then(() => {
    ended = true;
  });
  await turn(systemClock);
  expect(ended).toBe(false);
  end();
  await waiting;
});
