import { test } from 'vitest';
import { startRedis } from '../support/redis.ts';
import { runLossyModel } from './model.ts';
import { startRedisHarness } from './redis-harness.ts';

test('random commands have the same outcomes by the rules and in a Redis that loses its state', async () => {
  await using redis = await startRedis();
  await using harness = await startRedisHarness(redis.url);
  await runLossyModel(harness, { numRuns: 150, interruptAfterTimeLimit: 10_000 });
}, 60_000);
