import { test } from 'vitest';
import { startRedis } from '../support/redis.ts';
import { rehearse } from './model.ts';
import { startRedisStage } from './redis-stage.ts';

test('random stories come out the same by the rules, in memory and in Redis', async () => {
  await using redis = await startRedis();
  await using stage = await startRedisStage(redis.url);
  await rehearse(stage, { numRuns: 200 });
}, 60_000);
