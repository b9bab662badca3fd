import { expect, test, vi } from 'vitest';
import { startRedis } from '../support/redis.ts';
import { startNode, Unavailable } from './bus-node.ts';

const MIB = 1024 * 1024;

test.each([
  ['ASCII', 'x'.repeat(MIB)],
  ['characters of three bytes', `${'€'.repeat(Math.floor(MIB / 3))}x`],
])('a slow Redis is sent 32 MiB at most of %s: what it has not acknowledged is not added to', async (_what, text) => {
  await using redis = await startRedis();
  await using near = await startNode(redis, { deadlineMs: 60_000 });
  redis.freeze();
  for (let i = 0; i < 100; i += 1) near.bus.send('nobody', text);
  expect(near.bus.stats()).toMatchObject({ published: 32, dropped: 68 });
  expect(near.bus.isUp('any')).toBe(false);
  await expect(near.bus.countReceivers('nobody', text)).rejects.toThrow(Unavailable);
  redis.thaw();
  await vi.waitFor(() => expect(near.bus.isUp('any')).toBe(true));
  expect(await near.bus.countReceivers('nobody', text)).toBe(0);
});
