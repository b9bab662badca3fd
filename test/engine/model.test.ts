import { test } from 'vitest';
import { startRedis } from '../support/redis.ts';
import { rehearse } from './model.ts';
import { startRedisStage } from './redis-stage.ts';

test('random stories come out the same by the rules, in memory and in Redis', async () => {
  await using redis = await startRedis();
  await using stage = await startRedisStage(redis.url);
  await rehearse(stage, { numRuns: 300, interruptAfterTimeLimit: 20_000 });
}, 60_000);
