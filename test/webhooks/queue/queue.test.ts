import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RedisServer, startRedis } from '../../support/redis.ts';
import { startClusterOfOne } from '../../support/redis-cluster.ts';
import { deletesOldestDeadLetters, queueContract } from './contract.ts';
import { claim, claimIds, complete, event, memoryHarness, type QueueHarness, redisHarness } from './harness.ts';

function runContract(make: () => Promise<QueueHarness>): void {
  for (const [part, examples] of Object.entries(queueContract)) {
    describe(part, () => {
      test.each(examples)('%s', async (_name, run) => {
        await using harness = await make();
        await run(harness);
      });
    });
  }
}

const deletesOldest = async (make: () => Promise<QueueHarness>) => {
  await using harness = await make();
  await deletesOldestDeadLetters(harness);
};

describe('memory', () => {
  runContract(async () => memoryHarness());
  test('the oldest dead letters are deleted when there are too many', () => deletesOldest(async () => memoryHarness()));
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
  runContract(() => redisHarness(redis.url, false));
  test('the oldest dead letters are deleted when there are too many', () =>
    deletesOldest(() => redisHarness(redis.url, false)));

  test('a store that was emptied begins with the oldest event, and earlier claims cannot be completed', async () => {
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

  test('entries that no script has written are skipped, and opaque bodies are not decoded', async () => {
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

  test('all keys of an endpoint expire when no node claims for it any more', async () => {
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
describe('redis in cluster mode', () => runContract(() => redisHarness(cluster.url, true)));
