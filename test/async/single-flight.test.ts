import { expect, test } from 'vitest';
import { singleFlight } from '../../src/support/async/single-flight.ts';

function flights() {
  const landings: ((outcome: number | Error) => void)[] = [];
  const ask = singleFlight(
    () =>
      new Promise<number>((resolve, reject) => {
        landings.push((outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
      }),
  );
  return { ask, landings };
}

test('callers during a call share the next one, which begins when the first has ended', async () => {
  const { ask, landings } = flights();
  const first = ask();
  const others = [ask(), ask()];
  expect(landings).toHaveLength(1);
  landings[0]?.(1);
  expect(await first).toBe(1);
  await expect.poll(() => landings.length).toBe(2);
  landings[1]?.(2);
  expect(await Promise.all(others)).toEqual([2, 2]);
});

test('a failure reaches only the callers that shared it', async () => {
  const { ask, landings } = flights();
  const first = ask();
  const second = ask();
  landings[0]?.(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await expect.poll(() => landings.length).toBe(2);
  landings[1]?.(2);
  expect(await second).toBe(2);
});

test('a call after the last one has ended begins at once', async () => {
  const { ask, landings } = flights();
  const first = ask();
  landings[0]?.(1);
  await first;
  void ask();
  expect(landings).toHaveLength(2);
});
