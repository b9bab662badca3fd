/** Two nodes of one name: the second does not start, and nodes that find it out later say so. */
import { expect, test, vi } from 'vitest';
import { type Engine, NodeIdTaken } from '../../src/engine/engine.ts';
import { createRedisEngine, type RedisEngineOptions } from '../../src/engine/redis/index.ts';
import type { NodeId } from '../../src/protocol/ids.ts';
import { logLines } from '../support/log.ts';
import { PATIENCE_MS } from '../support/patience-ms.ts';
import { startProxy } from '../support/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { startClusterOfOne } from '../support/redis-cluster.ts';
import { settingsOf } from './harness.ts';

const PATIENT = { timeout: PATIENCE_MS, interval: 20 };
const SAME = 'same' as NodeId;

async function start(url: string, options: Partial<RedisEngineOptions> = {}) {
  const { log, lines } = logLines();
  const engine = await createRedisEngine({ url, log, predecessorMs: 300, ...options })({
    ...settingsOf(),
    nodeId: SAME,
  });
  const errors = () => lines().filter(({ level }) => level >= 50);
  return { ...engine, errors, [Symbol.asyncDispose]: () => engine.close() };
}

test.each<[string, () => Promise<RedisServer>]>([
  ['Redis', () => startRedis()],
  ['a Cluster', startClusterOfOne],
])('on %s a node whose name another one has does not start, and the error says what to do', async (_, startStore) => {
  await using redis = await startStore();
  await using first = await start(redis.url);
  const refused = start(redis.url);
  await expect(refused).rejects.toBeInstanceOf(NodeIdTaken);
  await expect(refused).rejects.toThrow(/"same".*nodeId.*of its own/);
  expect(first.errors()).toEqual([]);
  expect(await first.nodes()).toEqual([SAME]);
  await vi.waitFor(async () => expect(await first.nodes()).toEqual([SAME]), PATIENT);
});

test('a node waits for its predecessor to end', async () => {
  await using redis = await startRedis();
  const predecessor = await start(redis.url);
  const starting = start(redis.url, { predecessorMs: PATIENCE_MS });
  await predecessor.close();
  await using node = await starting;
  expect(node.errors()).toEqual([]);
});

test('a node that leaves is waited for as long as it says, and not for ever', async () => {
  await using redis = await startRedis();
  const predecessor = await start(redis.url);
  predecessor.fanout.leave(PATIENCE_MS);
  const { log, lines } = logLines();
  // It would wait for no other node.
  const starting = start(redis.url, { predecessorMs: 0, log });
  await vi.waitFor(
    () =>
      expect(
        lines()
          .map(({ msg }) => msg)
          .join(),
      ).toContain('is waited for'),
    PATIENT,
  );
  await predecessor.close();
  await using node = await starting;
  node.fanout.leave(0);
  await expect(start(redis.url)).rejects.toBeInstanceOf(NodeIdTaken);
});

test('of three nodes of one name that start at the same instant, one does', async () => {
  await using redis = await startRedis();
  const all = await Promise.allSettled([start(redis.url), start(redis.url), start(redis.url)]);
  const started = all.flatMap((one): Engine[] => (one.status === 'fulfilled' ? [one.value] : []));
  await Promise.all(started.map((engine) => engine.close()));
  expect(started).toHaveLength(1);
});

test('a connection that does not answer is waited for, and does not keep a node from starting', async () => {
  await using redis = await startRedis();
  await using dead = await startProxy(redis.port);
  const frozen = await start(`redis://127.0.0.1:${dead.port}`);
  dead.freeze();
  await using node = await start(redis.url);
  expect(node.errors()).toMatchObject([{ nodeId: SAME, msg: expect.stringContaining('does not answer') }]);
  await frozen.close();
});

test('nodes that were cut off from each other while the second started both log an error', async () => {
  await using redis = await startRedis();
  await using link = await startProxy(redis.port);
  await using first = await start(`redis://127.0.0.1:${link.port}`);
  link.cut();
  await using second = await start(redis.url, { predecessorMs: PATIENCE_MS });
  link.heal();
  for (const node of [first, second]) {
    await vi.waitFor(
      () =>
        expect(
          node
            .errors()
            .map(({ msg }) => msg)
            .join(),
        ).toContain('the same nodeId'),
      PATIENT,
    );
  }
});
