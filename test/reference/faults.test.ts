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

interface Scene extends AsyncDisposable {
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

async function setScene(): Promise<Scene> {
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
async function goOn({ counted, workers }: Scene, count = BETWEEN): Promise<void> {
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

function lead(proxy: TcpProxy | undefined, to: Primary): void {
  proxy?.turnTo(to.server.port);
  proxy?.cut();
  proxy?.heal();
}

const follow = (follower: Primary, leader: Primary) =>
  follower.say('REPLICAOF', '127.0.0.1', String(leader.server.port));

async function inStep(follower: Primary): Promise<void> {
  while (!String(await follower.say('INFO', 'replication')).includes('master_link_status:up')) await pause(20);
}

type Chapter = readonly [name: string, play: (scene: Scene) => Promise<void>];

const CHAPTERS: readonly Chapter[] = [
  ['four processes start on an empty database and an empty Redis', async () => {}],
  ['FLUSHALL', async ({ east }) => void (await east.say('FLUSHALL'))],
  ['Redis is killed, and starts again empty', async ({ east }) => east.server.restart()],
  [
    'a failover that loses two seconds of writes',
    async (scene) => {
      const { east, west, proxies } = scene;
      await follow(west, east);
      await inStep(west);
      // Cut off from its primary, which goes on.
      await west.say('REPLICAOF', '127.0.0.1', '1');
      await Promise.all([pause(LOST_MS), goOn(scene, 1_000)]);
      await east.server.kill();
      await west.say('REPLICAOF', 'NO', 'ONE');
      for (const proxy of proxies) lead(proxy, west);
    },
  ],
  [
    'two primaries at once',
    async (scene) => {
      const { east, west, proxies } = scene;
      await east.server.restart();
      await follow(east, west);
      await inStep(east);
      await east.say('REPLICAOF', 'NO', 'ONE');
      lead(proxies[1], east);
      await goOn(scene);
    },
  ],
  [
    'a primary that is demoted, and promoted again without having been restarted, without its last writes',
    async (scene) => {
      const { east, west, proxies } = scene;
      // West keeps a copy of east's data; all processes go on with east.
      await follow(west, east);
      await inStep(west);
      await west.say('REPLICAOF', 'NO', 'ONE');
      for (const proxy of proxies) lead(proxy, east);
      await Promise.all([pause(LOST_MS / 2), goOn(scene, 1_000)]);
      // West was not written to meanwhile. East goes on with its data, in the same epoch.
      await follow(east, west);
      await inStep(east);
      await east.say('REPLICAOF', 'NO', 'ONE');
      for (const proxy of proxies) lead(proxy, east);
    },
  ],
  [
    'an old dump is restored',
    async (scene) => {
      const restore = await scene.east.dump('old');
      await goOn(scene);
      await restore();
    },
  ],
  [
    'the database is away for ten minutes, 300 times as fast: nobody notices',
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
    'both are away: all are refused, and nothing is guessed',
    async (scene) => {
      const { database, east, workers } = scene;
      database.freeze();
      await east.server.kill();
      await Promise.all(workers.map((worker) => refusal(worker)));
      database.thaw();
      await east.server.restart();
    },
  ],
  [
    'a process is killed at any moment, and another one starts',
    async (scene) => {
      for (const worker of scene.workers.slice(0, 1)) await worker.kill();
      await goOn(scene);
    },
  ],
];

async function refusal(worker: WorkerProcess): Promise<void> {
  const latest = performance.now() + 30_000;
  const before = worker.refused.counted;
  while (worker.refused.counted === before) {
    if (performance.now() > latest) throw new Error('nobody was refused');
    await pause(20);
  }
  expect(worker.reasons.at(-1)).toMatch(/^ReferenceUnavailable: /);
}

const pauseAll = (workers: readonly WorkerProcess[]) => Promise.all(workers.map((worker) => worker.pause()));

test('a million references from four processes are unique through every fault', { timeout: 300_000 }, async () => {
  await using scene = await setScene();
  const { workers, counted, naive } = scene;
  for (const worker of workers) worker.run(BATCH);
  for (const [name, play] of CHAPTERS) {
    await play(scene);
    await goOn(scene);
    expect(counted.repeats, name).toBe(0);
  }
  if (counted.total < TOTAL) await goOn(scene, TOTAL - counted.total);
  expect(counted.total).toBeGreaterThanOrEqual(TOTAL);
  expect(counted.repeats).toBe(0);
  expect(naive.repeats).toBeGreaterThan(0);
});
