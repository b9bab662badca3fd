/** What happens to Redis itself. */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from 'redis';
import type { Stage } from '../stage/stage.ts';
import { type Fault, leaseShare } from './fault.ts';

const run = promisify(execFile);
const REDIS = ['redis'] as const;
const nothing = (): void => undefined;

/** Each command on a connection of its own: a fault may end it. */
async function command({ redis }: Stage, ...args: string[]): Promise<unknown> {
  const client = createClient({ url: redis.url, socket: { reconnectStrategy: false } });
  client.on('error', () => {}); // the command fails too
  await client.connect();
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
const stall: Fault['begin'] = async ({ redis }) => {
  redis.freeze();
  return () => redis.thaw();
};

const dumpOf = async (stage: Stage): Promise<string> => {
  const [, folder] = (await command(stage, 'CONFIG', 'GET', 'dir')) as string[]; // name and value
  return join(folder ?? '', 'dump.rdb');
};

export const redisFaults: readonly Fault[] = [
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
  momentary('drop-connections of commands', (stage) =>
    command(stage, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
  ),
  momentary('drop-connections of subscribers', (stage) => command(stage, 'CLIENT', 'KILL', 'TYPE', 'pubsub')),
  momentary('scripts forgotten', (stage) => command(stage, 'SCRIPT', 'FLUSH', 'SYNC')),
  {
    // With a limit of its files' size of one byte, the save fails as on a full disk, and Redis refuses writes.
    name: 'refuse writes for a full disk',
    targets: REDIS,
    lasts: [0.2, 0.5],
    async begin(stage) {
      await command(stage, 'CONFIG', 'SET', 'save', '3600 1000000');
      await run('prlimit', ['--pid', String(stage.redis.pid), '--fsize=1:']);
      await command(stage, 'BGSAVE');
      return async () => {
        await run('prlimit', ['--pid', String(stage.redis.pid), '--fsize=unlimited:']);
        await command(stage, 'CONFIG', 'SET', 'save', '');
        await command(stage, 'BGSAVE');
      };
    },
  },
  momentary('flush-all', (stage) => command(stage, 'FLUSHALL', 'SYNC')),
  {
    name: 'restart-empty',
    targets: REDIS,
    lasts: [0.05, 0.4],
    async begin(stage) {
      const dump = await dumpOf(stage);
      await stage.redis.kill();
      await rm(dump, { force: true });
      return () => stage.redis.restart();
    },
  },
  {
    name: 'restart-with-old-dump',
    targets: REDIS,
    // What is written after the dump and before the end is lost.
    lasts: [0.1, 0.4],
    async begin(stage) {
      await command(stage, 'SAVE');
      return () => stage.redis.restart();
    },
  },
];
