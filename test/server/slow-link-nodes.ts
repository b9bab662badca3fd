/** Nodes in this process, each behind a TCP proxy that delays its link to Redis and lets a test read the traffic. */
import type { PartialOptions } from '../../src/server/options/options.ts';
import type { SignalboxServer } from '../../src/server/signalbox.ts';
import { startNode } from '../support/memory-node.ts';
import type { Nodes } from '../support/nodes.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redis.ts';

export interface SlowLinkNodes extends Nodes {
  /** The link of each node, in their order. */
  readonly links: readonly TcpProxy[];
}

/** Ticks far apart: while a test reads the traffic, only its own requests cross the links. */
const QUIET: PartialOptions = { userTtlMs: 24 * 3_600_000, tickMs: 12 * 3_600_000, freeMisses: 1_000_000 };

export async function startSlowLinkNodes(
  count: number,
  delayMs: number,
  given: PartialOptions = {},
): Promise<SlowLinkNodes> {
  const redis = await startRedis();
  const links: TcpProxy[] = [];
  const servers: SignalboxServer[] = [];
  for (let node = 0; node < count; node += 1) {
    const link = await startProxy(redis.port, { delayMs });
    links.push(link);
    servers.push(await startNode({ ...QUIET, ...given, redisUrl: `redis://127.0.0.1:${link.port}` }));
  }
  return {
    servers,
    links,
    redis,
    url(node) {
      const server = servers[node % servers.length];
      if (server === undefined) throw new Error('no node was started');
      return `http://127.0.0.1:${server.port}`;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.close()));
      await Promise.all(links.map((link) => link.close()));
      await redis.stop();
    },
  };
}
