/** The stores of rooms that a run can take place on. */

import { type RedisServer, startRedis } from '../../support/redis.ts';
import { type SentinelGroup, startSentinelGroup } from '../../support/redis-sentinel.ts';

export interface Topology extends AsyncDisposable {
  /** Leads to the present primary: for the reads of the checker, and for nodes that have no proxy in between. */
  readonly url: string;
  /** Of the server that nodes reach through their proxies; undefined where they learn the address themselves. */
  readonly port: number | undefined;
  /** The server that takes writes now. */
  primary(): Promise<RedisServer>;
  readonly group: SentinelGroup | undefined;
}

export const TOPOLOGIES = {
  async standalone(): Promise<Topology> {
    const redis = await startRedis({ args: ['--dbfilename', 'dump.rdb'] });
    return {
      url: redis.url,
      port: redis.port,
      primary: async () => redis,
      group: undefined,
      [Symbol.asyncDispose]: () => redis.stop(),
    };
  },
  async sentinel(): Promise<Topology> {
    const group = await startSentinelGroup();
    return {
      url: group.url,
      port: undefined,
      primary: () => group.primary(),
      group,
      [Symbol.asyncDispose]: () => group[Symbol.asyncDispose](),
    };
  },
} as const;

export type TopologyName = keyof typeof TOPOLOGIES;
