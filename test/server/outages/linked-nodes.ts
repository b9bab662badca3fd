/** Nodes in this process, each behind a link to one Redis that can be cut and frozen, with short leases. */
import type { PartialOptions } from '../../../src/server/options/options.ts';
import type { SignalboxServer } from '../../../src/server/signalbox.ts';
import { startNode } from '../../support/memory-node.ts';
import { startProxy, type TcpProxy } from '../../support/proxy.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';

export interface LinkedNode {
  readonly server: SignalboxServer;
  readonly url: string;
  readonly link: TcpProxy;
}

export interface LinkedNodes extends AsyncDisposable {
  readonly redis: RedisServer;
  readonly all: readonly LinkedNode[];
  node(number: number): LinkedNode;
}

export const LEASE_MS = 3_000;
const OPTIONS: PartialOptions = {
  userTtlMs: LEASE_MS,
  tickMs: 300,
  graceMs: 2_000,
};

/** @param redisArgs more arguments for redis-server */
export async function startLinkedNodes(
  count: number,
  options: PartialOptions = {},
  redisArgs: readonly string[] = [],
): Promise<LinkedNodes> {
  const owned: AsyncDisposable[] = [];
  const close = async (): Promise<void> => {
    for (const resource of owned.toReversed()) await resource[Symbol.asyncDispose]();
  };
  try {
    const redis = await startRedis({ args: redisArgs });
    owned.push(redis);
    const nodes: LinkedNode[] = [];
    for (let number = 0; number < count; number += 1) nodes.push(await startLinkedNode(redis, options, owned));
    return linked(redis, nodes, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function startLinkedNode(
  redis: RedisServer,
  options: PartialOptions,
  owned: AsyncDisposable[],
): Promise<LinkedNode> {
  const link = await startProxy(redis.port);
  owned.push(link);
  const redisUrl = `redis://127.0.0.1:${link.port}`;
  const server = await startNode({ ...OPTIONS, redisUrl, ...options });
  owned.push({ [Symbol.asyncDispose]: () => server.close() });
  return { server, url: `http://127.0.0.1:${server.port}`, link };
}

function linked(redis: RedisServer, nodes: readonly LinkedNode[], close: () => Promise<void>): LinkedNodes {
  return {
    redis,
    all: nodes,
    node(number) {
      const found = nodes[number];
      if (found === undefined) throw new Error('no such node');
      return found;
    },
    [Symbol.asyncDispose]: close,
  };
}
