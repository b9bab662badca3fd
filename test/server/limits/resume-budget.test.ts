/** Reconnects of one user: a network that comes and goes is free, a loop is refused before the store is asked. */
import { expect, test } from 'vitest';
import { ResumeBudget } from '../../../src/server/limits/resume-budget.ts';
import { connectClient } from '../../support/client.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startNodes } from '../../support/nodes.ts';
import { refusedHandshake, tokenOf } from '../scenarios/members.ts';

/** More than the budget, also on a slow machine. */
const MAX_ATTEMPTS = 500;

test('a user has twenty reconnects at once, then one a second', () => {
  const clock = manualClock();
  const budget = new ResumeBudget(clock);
  expect(Array.from({ length: 22 }, () => budget.take('ann'))).toEqual([...Array(20).fill(0), 1000, 1000]);
  expect(budget.take('ben')).toBe(0);
  clock.advance(1000);
  expect([budget.take('ann'), budget.take('ann')]).toEqual([0, 1000]);
});

test('a user that reconnects to its seat again and again is refused with the time to wait', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  const url = nodes.url(0);
  await using ann = await connectClient(url);
  await ann.must('room:create');
  const resume = tokenOf(ann);
  const attempt = () => refusedHandshake(url, { resume }).catch(() => undefined);
  let refused = await attempt();
  for (let attempts = 1; attempts < MAX_ATTEMPTS && refused === undefined; attempts += 1) refused = await attempt();
  expect(refused).toMatchObject({ code: 'RATE_LIMITED', retryable: true, retryAfterMs: expect.any(Number) });
});
