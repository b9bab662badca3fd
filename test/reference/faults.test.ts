/**
 * Over a million unique references from four processes, through every fault of Redis and the database. Control: a naive
 * generator runs in the same processes and repeats numbers, so the faults are real and repetitions are detected.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createClient } from 'redis';
import { expect, test } from 'vitest';
import type { DatabaseServer } from '../support/database.ts';
import { startPostgres } from '../support/postgres.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/process.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { Tally } from './tally.ts';
import { type Run, startWorker, type WorkerProcess } from './worker-process.ts';

const TOTAL = 1_000_000;
const BATCH = 300;
/** References between two faults, so that all processes are issuing when one occurs. */
const BETWEEN = 60_000;
/** Outage to bridge: 15 minutes, 300 times as fast. The outage of the test is shorter, 10 of the 15. */
const SCALED_OUTAGE_MS = 3_000;
const OUTAGE_MS = 2_000;
const LOST_MS = 2_000;

interface Services extends AsyncDisposable {
  readonly database: DatabaseServer;
  readonly workers: readonly WorkerProcess[];
  readonly counted: Tally;
  readonly naive: Tally;
  /** Two Redis servers that can dump their data, each behind a proxy for two of the processes. */
  readonly east: Primary;
  readonly west: Primary;
  readonly proxies: readonly TcpProxy[];
}

interface Primary {
  readonly server: RedisServer;
  /** Dumps the data. @returns a function that restarts the server with that dump */
  dump(name: string): Promise<() => Promise<void>>;
  say(...words: string[]): Promise<unknown>;
}

async function startPrimary(folder: TemporaryFolder, name: string): Promise<Primary> {
  const file = join(folder.path, `${name}.rdb`);
  const server = await startRedis({ args: ['--dir', folder.path, '--dbfilename', `${name}.rdb`] });
  const say = async (...words: string[]) => {
    const client = createClient({ url: server.url });
    client.on('error', () => {});
    await client.connect();
    try {
      return await client.sendCommand(words);
    } finally {
      client.destroy();
    }
  };
  return {
    server,
    say,
    async dump(of) {
      await say('SAVE');
      await copyFile(file, `${file}.${of}`);
      return async () => {
        await server.kill();
        await copyFile(`${file}.${of}`, file);
        await server.restart();
      };
    },
  };
}

async function startServices(): Promise<Services> {
  const folder = await temporaryFolder();
  const [database, east, west] = await Promise.all([
    startPostgres(),
    startPrimary(folder, 'east'),
    startPrimary(folder, 'west'),
  ]);
  const ledger = await database.createDatabase('faults');
  const client = new pg.Client(ledger);
  await client.connect();
  await client.query('CREATE TABLE naive (highest BIGINT NOT NULL)');
  await client.end();
  const proxies = await Promise.all([startProxy(east.server.port), startProxy(east.server.port)]);
  const counted = new Tally();
  const naive = new Tally();
  const onIssued = (recipe: 'counted' | 'naive', run: Run) => (recipe === 'counted' ? counted : naive).add(run);
  const workers = await Promise.all(
    [0, 1, 2, 3].map((number) =>
      startWorker({
        ledger,
        redis: `redis://127.0.0.1:${proxies[number % 2]?.port}`,
        naive: true,
        outageMs: SCALED_OUTAGE_MS,
        onIssued,
      }),
    ),
  );
  return {
    database,
    workers,
    counted,
    naive,
    east,
    west,
    proxies,
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.kill()));
      await Promise.all([...proxies.map((proxy) => proxy.close()), east.server.stop(), west.server.stop()]);
      await database[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when that many more were issued, and every process has taken numbers from Redis again. */
async function issueMore({ counted, workers }: Services, count = BETWEEN): Promise<void> {
  const goal = counted.total + count;
  const takes = workers.map((worker) => worker.takes + 3);
  const latest = performance.now() + 60_000;
  while (
    counted.total < goal ||
    workers.some((worker, index) => worker.running && worker.takes < (takes[index] ?? 0))
  ) {
    if (performance.now() > latest) throw new Error(`${goal - counted.total} references are still to come`);
    await pause(10);
  }
}

function route(proxy: TcpProxy | undefined, to: Primary): void {
  proxy?.turnTo(to.server.port);
  proxy?.cut();
  proxy?.heal();
}

const follow = (follower: Primary, leader: Primary) =>
  follower.say('REPLICAOF', '127.0.0.1', String(leader.server.port));

async function untilSynced(follower: Primary): Promise<void> {
  while (!String(await follower.say('INFO', 'replication')).includes('master_link_status:up')) await pause(20);
}

type Fault = readonly [name: string, cause: (services: Services) => Promise<void>];

const FAULTS: readonly Fault[] = [
  ['four processes start on an empty database and an empty Redis', async () => {}],
  ['FLUSHALL', async ({ east }) => void (await east.say('FLUSHALL'))],
  ['Redis is killed, and starts again empty', async ({ east }) => east.server.restart()],
  [
    'a failover that loses two seconds of writes',
    async (services) => {
      const { east, west, proxies } = services;
      await follow(west, east);
      await untilSynced(west);
      // Cut off from its primary, which goes on.
      await west.say('REPLICAOF', '127.0.0.1', '1');
      await Promise.all([pause(LOST_MS), issueMore(services, 1_000)]);
      await east.server.kill();
      await west.say('REPLICAOF', 'NO', 'ONE');
      for (const proxy of proxies) route(proxy, west);
    },
  ],
  [
    'two primaries at once',
    async (services) => {
      const { east, west, proxies } = services;
      await east.server.restart();
      await follow(east, west);
      await untilSynced(east);
      await east.say('REPLICAOF', 'NO', 'ONE');
      route(proxies[1], east);
      await issueMore(services);
    },
  ],
  [
    'a primary that is demoted, and promoted again without having been restarted, without its last writes',
    async (services) => {
      const { east, west, proxies } = services;
      // West keeps a copy of east's data; all processes go on with east.
      await follow(west, east);
      await untilSynced(west);
      await west.say('REPLICAOF', 'NO', 'ONE');
      for (const proxy of proxies) route(proxy, east);
      await Promise.all([pause(LOST_MS / 2), issueMore(services, 1_000)]);
      // West was not written to meanwhile. East goes on with its data, without a restart: the run id stays.
      await follow(east, west);
      await untilSynced(east);
      await east.say('REPLICAOF', 'NO', 'ONE');
      for (const proxy of proxies) route(proxy, east);
    },
  ],
  [
    'an old dump is restored',
    async (services) => {
      const restore = await services.east.dump('old');
      await issueMore(services);
      await restore();
    },
  ],
  [
    'the database is away for ten minutes, 300 times as fast, and no request fails',
    async ({ database, workers }) => {
      const refusals = () => workers.reduce((sum, { refused }) => sum + refused.counted, 0);
      // A steady rate, and blocks leased for it.
      await pauseAll(workers);
      for (const worker of workers) worker.run(BATCH, 100);
      await pause(1_000);
      const before = refusals();
      database.freeze();
      await pause(OUTAGE_MS);
      expect(refusals() - before, workers.flatMap(({ reasons }) => reasons.slice(-1)).join()).toBe(0);
      database.thaw();
      await pauseAll(workers);
      for (const worker of workers) worker.run(BATCH);
    },
  ],
  [
    'both are away, and every request is refused',
    async (services) => {
      const { database, east, workers } = services;
      database.freeze();
      await east.server.kill();
      await Promise.all(workers.map((worker) => refusal(worker)));
      database.thaw();
      await east.server.restart();
    },
  ],
  [
    'a process is killed at any moment, and another one starts',
    async (services) => {
      for (const worker of services.workers.slice(0, 1)) await worker.kill();
      await issueMore(services);
    },
  ],
];

async function refusal(worker: WorkerProcess): Promise<void> {
  const latest = performance.now() + 30_000;
  const before = worker.refused.counted;
  while (worker.refused.counted === before) {
    if (performance.now() > latest) throw new Error('no request was refused');
    await pause(20);
  }
  expect(worker.reasons.at(-1)).toMatch(/^ReferenceUnavailable: /);
}

const pauseAll = (workers: readonly WorkerProcess[]) => Promise.all(workers.map((worker) => worker.pause()));

test('a million references from four processes are unique through every fault', { timeout: 300_000 }, async () => {
  await using services = await startServices();
  const { workers, counted, naive } = services;
  for (const worker of workers) worker.run(BATCH);
  for (const [name, cause] of FAULTS) {
    await cause(services);
    await issueMore(services);
    expect(counted.repeats, name).toBe(0);
  }
  if (counted.total < TOTAL) await issueMore(services, TOTAL - counted.total);
  expect(counted.total).toBeGreaterThanOrEqual(TOTAL);
  expect(counted.repeats).toBe(0);
  expect(naive.repeats).toBeGreaterThan(0);
});
