/** `signalbox pool`: the figures and the audit. */
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKeys } from '../../src/engine/redis/keys.ts';
import type { RoomCode } from '../../src/protocol/ids.ts';
import { shardOf } from '../../src/room/pool.ts';
import { connectClient } from '../support/client.ts';
import { freePort } from '../support/process.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { runSignalbox, type SignalboxProcess, startSignalbox } from '../support/signalbox.ts';

let redis: RedisServer;
let server: SignalboxProcess;
let code: RoomCode;

const pool = (...args: string[]) => runSignalbox(['pool', ...args], { REDIS_URL: redis.url });

beforeAll(async () => {
  redis = await startRedis();
  // The default tick is too slow to repair the planted disagreement during the tests.
  server = await startSignalbox({ redisUrl: redis.url, secret: 'a secret of these tests' });
  const [host, other] = await Promise.all([connectClient(server.url), connectClient(server.url)]);
  ({ code } = (await host.must('room:create')).room);
  await other.must('room:create');
  await other.must('room:close');
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await redis?.stop();
});

test('the figures are printed', async () => {
  const { code: exit, stdout, stderr } = await pool();
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  const figures = Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/)),
  );
  expect(figures).toEqual({ free: '899998', occupied: '1', cooling: '1', total: '900000' });
});

test('--json prints the sums of GET /v1/pool as one line', async () => {
  const { code: exit, stdout } = await pool('--json');
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^\{.*\}\n$/);
  expect(JSON.parse(stdout)).toEqual({ free: 899_998, occupied: 1, cooling: 1, total: 900_000 });
});

test('--audit confirms that the data is consistent', async () => {
  const { code: exit, stdout } = await pool('--audit');
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^audit +consistent$/m);
  expect(JSON.parse((await pool('--audit', '--json')).stdout)).toMatchObject({ disagreements: [] });
});

describe('when the data in Redis was changed by hand', () => {
  test('the disagreement is named, and the exit code is 1', async () => {
    const client = createClient({ url: redis.url });
    client.on('error', () => {});
    await client.connect();
    const keys = createKeys('sb:').shard(shardOf(code));
    await client.del(keys.taken);
    client.destroy();
    const audit = await pool('--audit');
    expect(audit.code).toBe(1);
    expect(audit.stdout).toContain(`shard ${code.slice(-2)}: `);
    expect(audit.stdout).toContain('marked free');
    const { code: exit, stdout } = await pool('--audit', '--json');
    expect(exit).toBe(1);
    expect(JSON.parse(stdout).disagreements.length).toBeGreaterThan(0);
    expect((await pool()).code).toBe(0);
  });
});

describe('an error is one line', () => {
  test('without Redis', async () => {
    const ended = await runSignalbox(['pool']);
    expect(ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^signalbox: --redis-url: .+\n$/),
    });
  });

  test('with a Redis that does not answer', async () => {
    const url = `redis://:hunter2@127.0.0.1:${await freePort()}`;
    const ended = await runSignalbox(['pool', '--redis-url', url]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/did not answer/);
    expect(ended.stderr).not.toContain('hunter2');
  });

  test('with a flag that only serve has', async () => {
    expect(await pool('--port', '1')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^signalbox: .*--port.*\n$/),
    });
  });
});
