/** Nodes in this process, each at the end of its own slow line to Redis, which can be listened to. */
import { createServer, silentLog } from '../../src/index.ts';
import type { PartialOptions } from '../../src/server/options/options.ts';
import type { SignalboxServer } from '../../src/server/signalbox.ts';
import type { Nodes } from '../support/nodes.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redis.ts';

export interface DistantNodes extends Nodes {
  /** The line of each node. */
  readonly lines: readonly TcpProxy[];
}

/** Nothing but what is asked for crosses the lines while a test looks: the first tick of a shard is minutes away. */
const QUIET: PartialOptions = { userTtlMs: 24 * 3_600_000, tickMs: 12 * 3_600_000 };

const OPTIONS: PartialOptions = {
  host: '127.0.0.1',
  port: 0,
  demo: false,
  eventsPerSecond: 100_000,
  eventsBurst: 100_000,
  freeMisses: 1_000_000,
};

export async function startDistantNodes(count: number, delayMs: number): Promise<DistantNodes> {
  const redis = await startRedis();
  const lines: TcpProxy[] = [];
  const servers: SignalboxServer[] = [];
  for (let node = 0; node < count; node += 1) {
    const line = await startProxy(redis.port, { delayMs });
    lines.push(line);
    const options = { ...OPTIONS, ...QUIET, redisUrl: `redis://127.0.0.1:${line.port}` };
    servers.push(await createServer(options, { log: silentLog }));
  }
  return {
    servers,
    lines,
    redis,
    url(node) {
      const server = servers[node % servers.length];
      if (server === undefined) throw new Error('no node was started');
      return `http://127.0.0.1:${server.port}`;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.close()));
      await Promise.all(lines.map((line) => line.close()));
      await redis.stop();
    },
  };
}
