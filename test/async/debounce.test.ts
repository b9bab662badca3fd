import { expect, test } from 'vitest';
import { debounce } from '../../src/support/async/debounce.ts';
import { manualClock } from '../support/manual-clock.ts';

function debounced() {
  const clock = manualClock();
  const calls: number[] = [];
  return { clock, calls, ...debounce(clock, 20, () => void calls.push(clock.monotonic())) };
}

test('requests within the delay become one call, which later requests do not put off', () => {
  const { clock, calls, request } = debounced();
  for (let ms = 0; ms < 40; ms += 5) {
    request();
    clock.advance(5);
  }
  expect(calls).toEqual([20, 40]);
});

test('a cancelled call does not come, and a later request plans another', () => {
  const { clock, calls, request, cancel } = debounced();
  request();
  cancel();
  clock.advance(100);
  expect(calls).toEqual([]);
  request();
  clock.advance(20);
  expect(calls).toEqual([120]);
});
