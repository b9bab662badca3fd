/** How long the first create waits on a Redis that has lost its state, or never had any. */
import { createClient } from 'redis';
import { expect, test } from 'vitest';
import type { SignalboxServer } from '../../../src/server/signalbox.ts';
import { connectClient } from '../../support/client.ts';
import { eventually } from '../../support/fleet.ts';
import { startNode } from '../../support/memory-node.ts';
import { startRedis } from '../../support/redis.ts';

/** Less than the recovery, which lasts 5 s when a node is missing. */
const SHORT_MS = 4_500;

/** Asks until a room is created. @returns how long that took */
async function firstCreate(servers: readonly SignalboxServer[]): Promise<number> {
  const since = performance.now();
  await using client = await connectClient(`http://127.0.0.1:${servers[0]?.port}`);
  await eventually(async () => (await client.ask('room:create')).ok);
  return performance.now() - since;
}

test('three nodes that start at once on an empty Redis, or see it emptied, do not wait for the whole recovery', async () => {
  const redis = await startRedis();
  const options = { redisUrl: redis.url, secret: 'the secret of these nodes' };
  const servers = await Promise.all(Array.from({ length: 3 }, () => startNode(options, {})));
  try {
    expect(await firstCreate(servers)).toBeLessThan(SHORT_MS);
    const admin = createClient({ url: redis.url });
    await admin.connect();
    await admin.flushAll();
    admin.destroy();
    expect(await firstCreate(servers)).toBeLessThan(SHORT_MS);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    await redis.stop();
  }
});
