import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startClusterOfOne } from '../support/redis-cluster.ts';
import { buriesTheNewest, deliveriesContract } from './deliveries-contract.ts';
import { type DeliveryStage, event, memoryStage, redisStage, settle, take, takeIds } from './deliveries-stage.ts';

function keepsTheContract(make: () => Promise<DeliveryStage>): void {
  for (const [part, examples] of Object.entries(deliveriesContract)) {
    describe(part, () => {
      test.each(examples)('%s', async (_name, run) => {
        await using stage = await make();
        await run(stage);
      });
    });
  }
}

const buries = async (make: () => Promise<DeliveryStage>) => {
  await using stage = await make();
  await buriesTheNewest(stage);
};

describe('memory', () => {
  keepsTheContract(async () => memoryStage());
  test('dead letters make room for newer ones', () => buries(async () => memoryStage()));
});

let redis: RedisServer;
let cluster: RedisServer;
beforeAll(async () => {
  [redis, cluster] = await Promise.all([startRedis(), startClusterOfOne()]);
});
afterAll(async () => {
  await redis?.stop();
  await cluster?.stop();
});

describe('redis', () => {
  keepsTheContract(() => redisStage(redis.url, false));
  test('dead letters make room for newer ones', () => buries(() => redisStage(redis.url, false)));

  test('a store that was emptied begins anew, and nothing of before is settled', async () => {
    await using stage = await redisStage(redis.url, false);
    await takeIds(stage);
    await stage.tell(event(1, 0));
    const { deliveries } = await take(stage);
    const [old] = deliveries;
    await stage.empty?.();
    await stage.tell(event(1, 1));
    expect(old && (await settle(stage, old))).toMatchObject({ current: false });
    const { deliveries: found, lost } = await take(stage, { from: 'oldest' });
    expect(found.map(({ eventId }) => eventId)).toEqual([event(1, 1).id]);
    expect(lost).toBe(0);
  });

  test('what no script has written is passed over, and opaque bodies are not looked into', async () => {
    await using stage = await redisStage(redis.url, false);
    await takeIds(stage);
    const admin = createClient({ url: redis.url });
    await admin.connect();
    const odd = String.raw`{"id":"${event(1, 0).id}","type":"user_joined","code":"100007","ref":"${event(1, 0).ref}","rev":0,"member":{"metadata":["\ud83d",{"ref":"x"}]}}`;
    for (const text of ['no JSON', '"text"', '{"type":"user_away"}', '{"id":{},"ref":{}}', odd]) {
      await admin.xAdd('sb:events', '*', { event: text });
    }
    await admin.xAdd('sb:events', '*', { other: 'field' });
    admin.destroy();
    await stage.tell(event(2, 0));
    const { deliveries } = await take(stage);
    expect(deliveries.map(({ eventId }) => eventId).toSorted()).toEqual([event(1, 0).id, event(2, 0).id].toSorted());
    expect(deliveries.map(({ body }) => body)).toContain(odd);
    for (const one of deliveries) await settle(stage, one);
    expect(await takeIds(stage)).toEqual([]);
  });

  test('of an endpoint that nobody asks for any more nothing stays for ever', async () => {
    await using stage = await redisStage(redis.url, false);
    await takeIds(stage);
    await stage.tell(event(1, 0), event(2, 0));
    const { deliveries } = await take(stage, { rooms: 1 });
    for (const one of deliveries) await settle(stage, one, { kind: 'failed', reason: 'x', retryMs: 1, giveUpMs: 1 });
    const admin = createClient({ url: redis.url });
    await admin.connect();
    const keys = await admin.keys('sb:hook:*');
    const lives = await Promise.all(keys.map((key) => admin.pTTL(key)));
    admin.destroy();
    expect(keys).toContain('sb:hook:first:state');
    expect(keys.length).toBeGreaterThan(3);
    expect(lives.filter((life) => life <= 0)).toEqual([]);
  });
});

// In cluster mode Redis refuses scripts that leave the slot of their keys.
describe('redis in cluster mode', () => keepsTheContract(() => redisStage(cluster.url, true)));
