/** One or several nodes in this process, on memory or on a Redis of their own. */
import type { ServerDependencies } from '../../src/server/dependencies.ts';
import type { PartialOptions } from '../../src/server/options/options.ts';
import type { SignalboxServer } from '../../src/server/signalbox.ts';
import { startNode } from './memory-node.ts';
import { type RedisServer, startRedis } from './redis.ts';

export interface Nodes extends AsyncDisposable {
  readonly servers: readonly SignalboxServer[];
  /** Undefined for memory. */
  readonly redis: RedisServer | undefined;
  /** The address of a node; a number beyond the last begins again with the first. */
  url(node: number): string;
}

export const MEMORY = { name: 'memory', kind: 'memory', count: 1 } as const;
export const ONE_NODE = { name: 'Redis, one node', kind: 'redis', count: 1 } as const;
export const TWO_NODES = { name: 'Redis, two nodes', kind: 'redis', count: 2 } as const;

/** The servers that each scenario runs on. */
export const TOPOLOGIES = [MEMORY, ONE_NODE, TWO_NODES] as const;

export async function startNodes(
  { kind, count }: { readonly kind: 'memory' | 'redis'; readonly count: number },
  options: PartialOptions = {},
  dependencies: Partial<ServerDependencies> = {},
): Promise<Nodes> {
  const redis = kind === 'redis' ? await startRedis() : undefined;
  const servers: SignalboxServer[] = [];
  for (let node = 0; node < count; node += 1) {
    servers.push(await startNode({ ...(redis && { redisUrl: redis.url }), ...options }, dependencies));
  }
  return {
    servers,
    redis,
    url(node) {
      const server = servers[node % servers.length];
      if (server === undefined) throw new Error('no node was started');
      return `http://127.0.0.1:${server.port}`;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.close()));
      await redis?.stop();
    },
  };
}
