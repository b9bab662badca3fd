import { expect, test } from 'vitest';
import { Reattempts } from '../../src/support/async/reattempts.ts';
import { turn } from '../../src/support/clock.ts';
import { silentLog } from '../../src/support/log.ts';
import { manualClock } from '../support/manual-clock.ts';

function stage() {
  const clock = manualClock();
  const reattempts = new Reattempts({ clock, random: { fraction: () => 0 }, log: silentLog });
  const store = { isUp: false, attempts: 0 };
  const done: string[] = [];
  const work = (name: string) => async () => {
    store.attempts += 1;
    if (!store.isUp) throw new Error('away');
    done.push(name);
  };
  /** In small steps: what is tried has its outcome before time goes on. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      for (let turns = 0; turns < 5; turns += 1) await turn(clock);
    }
  };
  return { pass, reattempts, store, done, work };
}

test('one piece is tried while the store is down, and all follow when it is back', async () => {
  const { pass, reattempts, store, done, work } = stage();
  for (let number = 0; number < 200; number += 1) reattempts.add(work(`${number}`), 60_000);
  await pass(10_000);
  expect(store.attempts).toBeLessThan(20);
  expect(done).toEqual([]);
  store.isUp = true;
  await pass(1000);
  expect(new Set(done).size).toBe(200);
  expect(done).toHaveLength(200);
  expect(reattempts.size).toBe(0);
});

test('work whose time is over is given up', async () => {
  const { pass, reattempts, store, done, work } = stage();
  reattempts.add(work('early'), 5000);
  reattempts.add(work('late'), 60_000);
  await pass(10_000);
  expect(reattempts.size).toBe(1);
  store.isUp = true;
  await pass(1000);
  expect(done).toEqual(['late']);
});

test('work that fails for a reason of its own does not hold up the rest', async () => {
  const { pass, reattempts, store, done, work } = stage();
  store.isUp = true;
  reattempts.add(() => Promise.reject(new Error('never')), 60_000);
  reattempts.add(work('other'), 60_000);
  await pass(3000);
  expect(done).toEqual(['other']);
});

test('work that succeeds at once is not tried again, and a stop tries what waits once more', async () => {
  const { reattempts, store, done, work } = stage();
  store.isUp = true;
  await reattempts.run(work('first'), 1000);
  store.isUp = false;
  await reattempts.run(work('second'), 1000);
  expect(reattempts.size).toBe(1);
  store.isUp = true;
  await reattempts.stop();
  expect(done).toEqual(['first', 'second']);
  expect(reattempts.size).toBe(0);
});
