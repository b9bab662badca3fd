import { expect, test, vi } from 'vitest';
import { connectRedis, type RedisRole } from '../../src/redis/connect.ts';
import { reconnectMs } from '../../src/redis/role-client.ts';
import { systemChance } from '../../src/support/chance.ts';
import { freePort } from '../support/process.ts';
import { startProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redis.ts';

/** The message of a rejection, as an operator reads it. */
async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return error instanceof Error ? `${error.message} ${JSON.stringify(error)}` : String(error);
  }
  throw new Error('expected a rejection');
}

test('when no server answers, connecting rejects in time with one error, with the address and without the password', async () => {
  const port = await freePort();
  const began = performance.now();
  const message = await refusal(connectRedis({ url: `redis://anna:s3cret@127.0.0.1:${port}`, connectMs: 400 }));
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(message).toContain(`127.0.0.1:${port}`);
  expect(message).toContain('ECONNREFUSED');
  expect(message).not.toContain('s3cret');
});

test('a frozen server does not make connecting hang', async () => {
  await using redis = await startRedis();
  redis.freeze();
  const message = await refusal(connectRedis({ url: redis.url, connectMs: 400 }));
  expect(message).toContain(`127.0.0.1:${redis.port}`);
  redis.thaw();
});

test('the error for a wrong password says so, without repeating it', async () => {
  await using redis = await startRedis({ args: ['--requirepass', 'right'] });
  const message = await refusal(connectRedis({ url: `redis://:s3cret@127.0.0.1:${redis.port}`, connectMs: 600 }));
  expect(message).toContain('WRONGPASS');
  expect(message).not.toContain('s3cret');
  await using clients = await connectRedis({ url: `redis://:right@127.0.0.1:${redis.port}` });
  expect(clients.state.isReady).toBe(true);
});

test.each(['not a url, s3cret', 'http://:s3cret@127.0.0.1'])(
  'an invalid URL is refused without repeating it: %s',
  async (url) => {
    const message = await refusal(connectRedis({ url }));
    expect(message).toContain('redis://');
    expect(message).not.toContain('s3cret');
  },
);

test('a server that evicts keys is refused, with the setting to change', async () => {
  await using redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
  const message = await refusal(connectRedis({ url: redis.url }));
  expect(message).toContain('allkeys-lru');
  expect(message).toContain('noeviction');
});

test('a server that denies INFO and CONFIG is accepted, with a warning for each check', async () => {
  await using redis = await startRedis({
    args: ['--user', 'default', 'on', 'nopass', '~*', '&*', '+@all', '-info', '-config'],
  });
  const warnings: string[] = [];
  await using clients = await connectRedis({ url: redis.url, warn: (message) => warnings.push(message) });
  expect(await clients.state.sendCommand(['PING'])).toBe('PONG');
  expect(warnings).toHaveLength(2);
  expect(warnings.join()).toMatch(/version.*maxmemory-policy/);
});

test('each connection reports once that it was lost and once that it is back', async () => {
  await using redis = await startRedis();
  await using proxy = await startProxy(redis.port);
  const seen: [RedisRole, boolean][] = [];
  const url = `redis://127.0.0.1:${proxy.port}`;
  await using clients = await connectRedis({ url, onConnectionChange: (role, up) => seen.push([role, up]) });
  seen.length = 0;
  proxy.cut();
  await vi.waitFor(() => expect(seen).toHaveLength(3));
  await expect(clients.state.sendCommand(['PING'])).rejects.toThrow(); // refused at once, not queued
  proxy.heal();
  await vi.waitFor(() => expect(seen).toHaveLength(6));
  expect(seen.filter(([, up]) => up)).toHaveLength(3);
  expect(await clients.state.sendCommand(['PING'])).toBe('PONG');
});

test('closing takes bounded time, even when Redis is frozen with commands in flight', async () => {
  await using redis = await startRedis();
  const clients = await connectRedis({ url: redis.url });
  redis.freeze();
  const pending = clients.state.sendCommand(['GET', 'key']).catch((error: unknown) => error);
  const began = performance.now();
  await clients.close();
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(await pending).toBeInstanceOf(Error);
  await clients.close(); // twice is once
  redis.thaw();
});

test('the delay before a reconnect is a number for every retry, and stays short', () => {
  for (let retries = 0; retries < 2_000; retries += 1) {
    expect(reconnectMs(retries, systemChance)).toBeGreaterThanOrEqual(50);
    expect(reconnectMs(retries, systemChance)).toBeLessThan(601);
  }
});
