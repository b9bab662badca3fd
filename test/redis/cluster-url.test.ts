import { expect, test } from 'vitest';
import { readClusterUrl } from '../../src/redis/cluster/url.ts';
import { connectRedis } from '../../src/redis/connect.ts';
import { addressOf, databaseOf, redisUrlProblem } from '../../src/redis/url.ts';
import { startRedis } from '../support/redis.ts';

test('the URL of a Cluster names some of its nodes and the user of all', () => {
  const url = 'rediss+cluster://ann:p%40ss@one:7000,two,[2001:db8::1]:1';
  expect(redisUrlProblem(url)).toBeUndefined();
  expect(readClusterUrl(url)).toEqual({
    seeds: [
      { host: 'one', port: 7000 },
      { host: 'two', port: 6379 },
      { host: '2001:db8::1', port: 1 },
    ],
    username: 'ann',
    password: 'p@ss',
    tls: true,
  });
  expect(databaseOf(url)).toBe(0);
  expect(addressOf(url)).toBe('the Cluster of one:7000, two:6379, 2001:db8::1:1');
  expect(redisUrlProblem('redis+cluster://host/0')).toBeUndefined();
});

test.each([
  'redis+cluster://',
  'redis+cluster://host,',
  'redis+cluster://host/1',
  'redis+cluster://host/calls',
  'redis+cluster://host?db=1',
  'redis+cluster://host#0',
  'redis+cluster://host:0',
  'redis+cluster://u:hunter2%@host',
  'redis+clusters://host',
])('%s is refused without repeating it', (url) => {
  expect(redisUrlProblem(url)).toMatch(/^the URL of Redis .*redis\+cluster:\/\/host:6379,host:6379/);
  expect(redisUrlProblem(url)).not.toContain('hunter2');
});

test('a server that is no Cluster is refused, with what to write instead', async () => {
  await using redis = await startRedis();
  const url = redis.url.replace('redis:', 'redis+cluster:');
  await expect(connectRedis({ url, connectMs: 2_000 })).rejects.toThrow('it is not a Cluster: use redis://');
});
