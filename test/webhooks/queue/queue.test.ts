import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RedisServer, startRedis } from '../../support/redis.ts';
import { startClusterOfOne } from '../../support/redis-cluster.ts';
import { buriesTheNewest, deliveriesContract } from './contract.ts';
import { claim, claimIds, complete, event, memoryHarness, type QueueHarness, redisHarness } from './harness.ts';

function keepsTheContract(make: () => Promise<QueueHarness>): void {
  for (const [part, examples] of Object.entries(deliveriesContract)) {
    describe(part, () => {
      test.each(examples)('%s', async (_name, run) => {
        await using harness = await make();
        await run(harness);
      });
    });
  }
}

const buries = async (make: () => Promise<QueueHarness>) => {
  await using harness = await make();
  await buriesTheNewest(harness);
};

describe('memory', () => {
  keepsTheContract(async () => memoryHarness());
  test('dead letters make room for newer ones', () => buries(async () => memoryHarness()));
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
  keepsTheContract(() => redisHarness(redis.url, false));
  test('dead letters make room for newer ones', () => buries(() => redisHarness(redis.url, false)));

  test('a store that was emptied begins anew, and nothing of before is settled', async () => {
    await using harness = await redisHarness(redis.url, false);
    await claimIds(harness);
    await harness.append(event(1, 0));
    const { deliveries } = await claim(harness);
    const [old] = deliveries;
    await harness.empty?.();
    await harness.append(event(1, 1));
    expect(old && (await complete(harness, old))).toMatchObject({ current: false });
    const { deliveries: found, lost } = await claim(harness, { from: 'oldest' });
    expect(found.map(({ eventId }) => eventId)).toEqual([event(1, 1).id]);
    expect(lost).toBe(0);
  });

  test('what no script has written is passed over, and opaque bodies are not looked into', async () => {
    await using harness = await redisHarness(redis.url, false);
    await claimIds(harness);
    const admin = createClient({ url: redis.url });
    await admin.connect();
    const odd = String.raw`{"id":"${event(1, 0).id}","type":"user_joined","code":"100007","ref":"${event(1, 0).ref}","rev":0,"member":{"metadata":["\ud83d",{"ref":"x"}]}}`;
    for (const text of ['no JSON', '"text"', '{"type":"user_away"}', '{"id":{},"ref":{}}', odd]) {
      await admin.xAdd('sb:events', '*', { event: text });
    }
    await admin.xAdd('sb:events', '*', { other: 'field' });
    admin.destroy();
    await harness.append(event(2, 0));
    const { deliveries } = await claim(harness);
    expect(deliveries.map(({ eventId }) => eventId).toSorted()).toEqual([event(1, 0).id, event(2, 0).id].toSorted());
    expect(deliveries.map(({ body }) => body)).toContain(odd);
    for (const one of deliveries) await complete(harness, one);
    expect(await claimIds(harness)).toEqual([]);
  });

  test('of an endpoint that nobody asks for any more nothing stays for ever', async () => {
    await using harness = await redisHarness(redis.url, false);
    await claimIds(harness);
    await harness.append(event(1, 0), event(2, 0));
    const { deliveries } = await claim(harness, { maxRooms: 1 });
    for (const one of deliveries)
      await complete(harness, one, { kind: 'failed', reason: 'x', retryMs: 1, giveUpMs: 1 });
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
describe('redis in cluster mode', () => keepsTheContract(() => redisHarness(cluster.url, true)));
