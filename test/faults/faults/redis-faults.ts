/** What happens to Redis itself. */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connectPlainClient } from '../../../src/redis/plain-client.ts';
import type { Stage } from '../stage/stage.ts';
import { type Fault, leaseShare } from './fault.ts';

const run = promisify(execFile);
const REDIS = ['redis'] as const;
const nothing = (): void => undefined;

/** Each command on a connection of its own: a fault may end it. */
async function command({ store }: Stage, ...args: string[]): Promise<unknown> {
  const client = await connectPlainClient('fault', store.url);
  try {
    return await client.sendCommand(args);
  } finally {
    client.destroy();
  }
}

/** A fault that is over at once. */
const momentary = (name: string, act: (stage: Stage) => Promise<unknown>): Fault => ({
  name,
  targets: REDIS,
  lasts: [0, 0],
  async begin(stage) {
    await act(stage);
    return nothing;
  },
});

/** SIGSTOP. */
const stall: Fault['begin'] = async ({ store }) => {
  const redis = await store.primary();
  redis.freeze();
  return () => redis.thaw();
};

async function dumpOf({ store }: Stage): Promise<string> {
  const client = await connectPlainClient('fault', store.url);
  const { dir = '' } = await client.configGet('dir');
  client.destroy();
  return join(dir, 'dump.rdb');
}

/** Of the server that takes writes, whatever stands behind it. */
export const redisFaults: readonly Fault[] = [
  momentary('drop-connections of commands', (stage) =>
    command(stage, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
  ),
  momentary('drop-connections of subscribers', (stage) => command(stage, 'CLIENT', 'KILL', 'TYPE', 'pubsub')),
  momentary('scripts forgotten', (stage) => command(stage, 'SCRIPT', 'FLUSH', 'SYNC')),
  momentary('flush-all', (stage) => command(stage, 'FLUSHALL', 'SYNC')),
];

/** Of the only server: behind sentinels they would be something else, or nothing. */
export const standaloneFaults: readonly Fault[] = [
  { name: 'stall', targets: REDIS, lasts: [0.05, 0.6], begin: stall },
  { name: 'stall past the lease', targets: REDIS, lasts: [1.2, 1.5], begin: stall },
  {
    name: 'pause of clients',
    targets: REDIS,
    lasts: [0.1, 0.4],
    async begin(stage) {
      await command(stage, 'CLIENT', 'PAUSE', String(Math.round(leaseShare(0.5, stage.timers))), 'ALL');
      return () => command(stage, 'CLIENT', 'UNPAUSE');
    },
  },
  {
    // With a limit of its files' size of one byte, the save fails as on a full disk, and Redis refuses writes.
    name: 'refuse writes for a full disk',
    targets: REDIS,
    lasts: [0.2, 0.5],
    async begin(stage) {
      await command(stage, 'CONFIG', 'SET', 'save', '3600 1000000');
      const { pid } = await stage.store.primary();
      await run('prlimit', ['--pid', String(pid), '--fsize=1:']);
      await command(stage, 'BGSAVE');
      return async () => {
        await run('prlimit', ['--pid', String(pid), '--fsize=unlimited:']);
        await command(stage, 'CONFIG', 'SET', 'save', '');
        await command(stage, 'BGSAVE');
      };
    },
  },
  {
    name: 'restart-empty',
    targets: REDIS,
    lasts: [0.05, 0.4],
    async begin(stage) {
      const dump = await dumpOf(stage);
      const redis = await stage.store.primary();
      await redis.kill();
      await rm(dump, { force: true });
      return () => redis.restart();
    },
  },
  {
    name: 'restart-with-old-dump',
    targets: REDIS,
    // What is written after the dump and before the end is lost.
    lasts: [0.1, 0.4],
    async begin(stage) {
      await command(stage, 'SAVE');
      const redis = await stage.store.primary();
      return () => redis.restart();
    },
  },
];
