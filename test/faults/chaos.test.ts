/** Half a minute of faults at random, always the same ones, and the verdict of the checker. `npm run chaos` takes longer. */
import { expect, test } from 'vitest';
import { shortFaults } from './faults/short.ts';
import { report } from './report.ts';
import { runChaos } from './run.ts';
import { SHORT_TIMERS } from './stage/timers.ts';

test('three nodes keep every promise to their clients while parts of them fail', async () => {
  const lines: string[] = [];
  const result = await runChaos({
    seed: 20_260_042,
    faults: shortFaults(),
    forMs: 30_000,
    timers: SHORT_TIMERS,
    topology: 'standalone',
    clients: 40,
    paceMs: 300,
    say: (line) => void lines.push(line),
  });
  const told = [...lines, ...report(result)].join('\n');
  expect(result.violations, told).toEqual([]);
  // A run in which nothing happened would prove nothing.
  expect(result.run.faults.length, told).toBeGreaterThan(15);
  expect(result.run.clients.filter(({ kind }) => kind === 'heard').length, told).toBeGreaterThan(500);
  expect(result.run.audits.length, told).toBeGreaterThan(5);
  // Not the feed: a Redis that was emptied has forgotten what came before.
  expect(result.run.webhooks.length, told).toBeGreaterThan(200);
}, 240_000);
