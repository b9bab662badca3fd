/** Nodes in this process, each behind a link to one Redis that can be cut and frozen, with short leases. */
import { createServer, silentLog } from '../../../src/index.ts';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import type { SignalboxServer } from '../../../src/server/signalbox.ts';
import { startProxy, type TcpProxy } from '../../support/proxy.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';

export interface LinkedNode {
  readonly server: SignalboxServer;
  readonly url: string;
  readonly link: TcpProxy;
}

export interface LinkedNodes extends AsyncDisposable {
  readonly redis: RedisServer;
  node(number: number): LinkedNode;
}

export const LEASE_MS = 3_000;
const OPTIONS: PartialOptions = {
  host: '127.0.0.1',
  port: 0,
  demo: false,
  eventsPerSecond: 100_000,
  eventsBurst: 100_000,
  userTtlMs: LEASE_MS,
  tickMs: 300,
  graceMs: 2_000,
};

export async function startLinkedNodes(count: number, options: PartialOptions = {}): Promise<LinkedNodes> {
  const redis = await startRedis();
  const nodes: LinkedNode[] = [];
  for (let number = 0; number < count; number += 1) {
    const link = await startProxy(redis.port);
    const redisUrl = `redis://127.0.0.1:${link.port}`;
    const server = await createServer({ ...OPTIONS, redisUrl, ...options }, { log: silentLog });
    nodes.push({ server, url: `http://127.0.0.1:${server.port}`, link });
  }
  return {
    redis,
    node(number) {
      const found = nodes[number];
      if (found === undefined) throw new Error('no such node');
      return found;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map(({ server }) => server.close()));
      await Promise.all(nodes.map(({ link }) => link.close()));
      await redis.stop();
    },
  };
}
