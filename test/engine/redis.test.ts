import { afterAll, beforeAll } from 'vitest';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { keepsTheContract } from './contract.ts';
import { type RedisStage, startRedisStage } from './redis-stage.ts';

let redis: RedisServer;
let stage: RedisStage;

beforeAll(async () => {
  redis = await startRedis();
  stage = await startRedisStage(redis.url);
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await redis.stop();
});

keepsTheContract('redis', (settings, clock) => stage.make(settings, clock));
