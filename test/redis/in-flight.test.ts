/** What a node has in flight to Redis is bounded: the rest is refused before it is sent. */
import { expect, test } from 'vitest';
import { connectRedis, type RedisClients } from '../../src/redis/connect.ts';
import type { Urgency } from '../../src/redis/in-flight.ts';
import { composeScript } from '../../src/redis/script.ts';
import { StoreUnavailable } from '../../src/support/store.ts';
import { startRedis } from '../support/redis.ts';
import { runnerOn } from './script-runner.ts';

const REPLY_BYTES = 100_000;
const LARGE = composeScript(`#!lua flags=no-writes\nreturn string.rep('x', ${REPLY_BYTES})`, []);
const SMALL = composeScript(`#!lua flags=no-writes\nreturn 'x'`, []);

/** A runner whose deadline is not reached while the test keeps Redis frozen. */
async function started(bounds: { commands: number; bytes: number }) {
  const redis = await startRedis();
  const clients = await connectRedis({ url: redis.url });
  const runner = runnerOn(clients.state, { inFlight: bounds });
  await runner.load([LARGE, SMALL]);
  const close = async () => {
    redis.thaw();
    await clients.close();
    await redis.stop();
  };
  return { redis, clients, runner, [Symbol.asyncDispose]: close };
}

/** Sends them at once. @returns how many were refused before they were sent, and the end of the others */
async function send(count: number, run: () => Promise<unknown>) {
  let refused = 0;
  const settled = Array.from({ length: count }, () =>
    run().catch((error: unknown) => {
      expect(error).toBeInstanceOf(StoreUnavailable);
      refused += 1;
    }),
  );
  // A refusal needs no answer of Redis, which is frozen: it comes in the turns of this process.
  await new Promise((resolve) => setImmediate(resolve));
  return { refused, settled: Promise.all(settled) };
}

async function callsOf({ state }: RedisClients): Promise<number> {
  const stats = await state.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

test('a Redis that does not answer is sent no more than the bound of commands, and serves at once when it answers', async () => {
  await using node = await started({ commands: 100, bytes: 2 ** 30 });
  const { redis, clients, runner } = node;
  const ordinary = () => runner.run(SMALL, [], []);
  redis.freeze();
  const flood = await send(5_000, ordinary);
  expect(flood.refused).toBe(4_900);
  redis.thaw();
  await flood.settled;
  expect(await ordinary()).toBe('x');
  expect(await callsOf(clients)).toBe(101);
});

test('the bytes of the replies are bounded, as the last replies of the script were', async () => {
  await using node = await started({ commands: 10_000, bytes: 20 * REPLY_BYTES });
  const { redis, clients, runner } = node;
  const read = () => runner.run(LARGE, [], [], 'bulk');
  await read();
  redis.freeze();
  const flood = await send(1_000, read);
  // Reads may fill half of the bound.
  expect(flood.refused).toBe(990);
  // Large commands are counted like large replies.
  const writes = await send(1_000, () => runner.run(SMALL, [], ['x'.repeat(REPLY_BYTES)]));
  expect(writes.refused).toBe(990);
  redis.thaw();
  await Promise.all([flood.settled, writes.settled]);
  expect(await callsOf(clients)).toBe(21);
});

test('commands that keep and release seats pass while reads and other commands are refused', async () => {
  await using node = await started({ commands: 100, bytes: 2 ** 30 });
  const { redis, runner } = node;
  const by = (urgency: Urgency) => () => runner.run(SMALL, [], [], urgency);
  redis.freeze();
  const floods = [await send(1_000, by('bulk')), await send(1_000, by('ordinary')), await send(250, by('vital'))];
  expect(floods.map(({ refused }) => refused)).toEqual([950, 950, 0]);
  // They are bounded as well.
  const vital = await send(1_000, by('vital'));
  expect(vital.refused).toBe(950);
  redis.thaw();
  await Promise.all([...floods, vital].map(({ settled }) => settled));
});

test('a lost connection releases what was in flight', async () => {
  await using node = await started({ commands: 10, bytes: 2 ** 30 });
  const { redis, runner } = node;
  redis.freeze();
  const flood = await send(20, () => runner.run(SMALL, [], []));
  expect(flood.refused).toBe(10);
  await redis.restart();
  await flood.settled;
  await expect.poll(() => runner.run(SMALL, [], []).catch(() => 'not yet')).toBe('x');
});
