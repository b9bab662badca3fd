/** A process that dies in the middle of a lease: its numbers are wasted, and none is issued twice. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DatabaseServer } from '../support/database.ts';
import { startPostgres } from '../support/postgres.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { Tally } from './tally.ts';
import { type Run, startWorker } from './worker-process.ts';

let database: DatabaseServer;
let redis: RedisServer;
let ledger: string;
const tally = new Tally();
const onIssued = (_recipe: unknown, run: Run) => tally.add(run);

beforeAll(async () => {
  [database, redis] = await Promise.all([startPostgres(), startRedis()]);
  ledger = await database.createDatabase('killed');
});
afterAll(async () => {
  await redis?.stop();
  await database?.[Symbol.asyncDispose]();
});

test.each(['before take', 'after take', 'before lease', 'after lease', 'before add', 'after add'])(
  'killed %s',
  async (dieAt) => {
    // Redis is empty, so each process leases first.
    await redis.restart();
    await using survivor = await startWorker({ ledger, redis: redis.url, onIssued });
    const victim = await startWorker({ ledger, redis: redis.url, dieAt, onIssued });
    await expect(victim.issue(5_000)).rejects.toThrow('a worker has ended');
    await victim.exited;
    expect(victim.running).toBe(false);
    await survivor.issue(5_000);
    await using heir = await startWorker({ ledger, redis: redis.url, onIssued });
    await heir.issue(5_000);
    expect(survivor.ranges.length * heir.ranges.length).toBeGreaterThan(0);
    expect(tally.repeats).toBe(0);
  },
);

test('a process killed at any moment repeats no number', async () => {
  await using survivor = await startWorker({ ledger, redis: redis.url, onIssued });
  survivor.run(50);
  for (let life = 0; life < 6; life += 1) {
    const victim = await startWorker({ ledger, redis: redis.url, onIssued });
    victim.run(50);
    while (victim.ranges.length < 20) await new Promise((resolve) => setTimeout(resolve, 3));
    // In the middle of leases: every leased block is lost.
    if (life % 2 === 1) await redis.restart();
    await victim.kill();
  }
  await survivor.pause();
  expect(tally.total).toBeGreaterThan(10_000);
  expect(tally.repeats).toBe(0);
});
