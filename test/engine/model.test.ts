import { test } from 'vitest';
import { startRedis } from '../support/redis.ts';
import { runModel } from './model.ts';
import { startRedisHarness } from './redis-harness.ts';

test('random commands have the same outcomes by the rules, in memory and in Redis', async () => {
  await using redis = await startRedis();
  await using harness = await startRedisHarness(redis.url);
  await runModel(harness, { numRuns: 300, interruptAfterTimeLimit: 20_000 });
}, 60_000);
