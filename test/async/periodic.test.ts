/** Work beside everything else: when it is done again, and that it ends. */
import { expect, test } from 'vitest';
import { startPeriodic } from '../../src/support/async/periodic.ts';
import { silentLog } from '../../src/support/log.ts';
import { manualClock } from '../support/manual-clock.ts';

/** The middle of every spread: intervals are exact. */
const middle = { fraction: () => 0.5 };

function stage(answers: readonly (boolean | Error)[]) {
  const clock = manualClock();
  const started: number[] = [];
  const begins = clock.now();
  const lines: string[] = [];
  const say =
    (level: string) =>
    (about: unknown, text = String(about)) =>
      void lines.push(`${level} ${text}`);
  const log = { ...silentLog, debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  const loop = startPeriodic({
    failure: 'it fails',
    recovery: 'it works again',
    everyMs: 1_000,
    async work() {
      const answer = answers[started.length] ?? false;
      started.push(clock.now() - begins);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    clock,
    random: middle,
    log: log as never, // only these four are called
  });
  const turn = async (ms: number) => {
    for (let done = 0; done < ms; done += 100) {
      clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { loop, started, lines, turn };
}

test('again after a while; at once when there is more', async () => {
  const { started, turn, loop } = stage([false, true, true, false]);
  await turn(3_500);
  expect(started).toEqual([1_000, 2_000, 2_000, 2_100, 3_200]);
  await loop.stop();
  await turn(5_000);
  expect(started).toHaveLength(5);
});

test('ever more seldom while it fails, at least every 30 seconds, and one warning for each time that it begins', async () => {
  const fault = new Error('away');
  const { started, turn, lines } = stage([...Array.from({ length: 9 }, () => fault), false, fault, false]);
  await turn(200_000);
  const pauses = started.slice(1, 10).map((at, index) => at - (started[index] ?? 0));
  expect(pauses.slice(0, 5)).toEqual([2_000, 4_000, 8_000, 16_000, 20_000]);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
  expect(lines.filter((line) => !line.startsWith('debug'))).toEqual([
    'warn it fails',
    'info it works again',
    'warn it fails',
    'info it works again',
  ]);
});

test('whoever stops it waits for what is under way', async () => {
  const clock = manualClock();
  let finish = () => {};
  const work = () =>
    new Promise<boolean>((resolve) => {
      finish = () => resolve(true);
    });
  const loop = startPeriodic({
    failure: 'it fails',
    recovery: '',
    everyMs: 1_000,
    work,
    clock,
    random: middle,
    log: silentLog,
  });
  clock.advance(1_000);
  let stopped = false;
  const stopping = loop.stop().then(() => {
    stopped = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(stopped).toBe(false);
  finish();
  await stopping;
});
