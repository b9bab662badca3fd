import { createClient } from 'redis';
import { expect, vi } from 'vitest';
import { type RedisServer, startRedis } from './redis.ts';

/** In cluster mode Redis refuses scripts that leave the slot of their keys: one node with all slots is enough for that. */
export async function startClusterOfOne(): Promise<RedisServer> {
  const redis = await startRedis({ args: ['--cluster-enabled', 'yes'] });
  const admin = createClient({ url: redis.url });
  await admin.connect();
  await admin.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383']);
  await vi.waitFor(
    async () => expect(await admin.sendCommand(['CLUSTER', 'INFO'])).toContain('cluster_state:ok'),
    10_000,
  );
  admin.destroy();
  return redis;
}
