/** Checks that the keys in Redis do not contradict each other: conservation of codes, and what follows from it. */
import { z } from 'zod';
import type { RoomCode } from '../../protocol/ids.ts';
import { type Store, withStore } from '../../redis/whole-store.ts';
import { type Pool, SHARDS, shardOf } from '../../room/pool.ts';
import { DEFAULT_PREFIX } from '../engine.ts';
import { poolNumbers } from './arguments.ts';
import { createKeys, type Keys, sharedKeys } from './keys.ts';
import { loadAuditScript } from './scripts.ts';

export interface ShardAudit {
  readonly shard: number;
  /** Codes that are neither occupied nor cooling. */
  readonly free: number;
  readonly occupied: number;
  readonly cooling: number;
  readonly seats: number;
  /** Contradictions, in words. Empty as long as the laws hold. */
  readonly disagreements: readonly string[];
}

export interface AuditOptions {
  readonly url: string;
  readonly prefix?: string;
  readonly pool: Pool;
}

const reply = z.object({
  marked: z.int(),
  occupied: z.int(),
  cooling: z.int(),
  seats: z.int(),
  disagreements: z.array(z.string()),
});

/**
 * Looks at every shard, each in one step: rooms may come and go meanwhile. It changes nothing. Every shard keeps Redis
 * busy for some milliseconds when it is full, so it is for operators and tests, not for a timer.
 */
export function auditShards({ url, prefix = DEFAULT_PREFIX, pool }: AuditOptions): Promise<ShardAudit[]> {
  return withStore('audit', url, async (store) => {
    const keys = createKeys(prefix);
    const script = loadAuditScript().source;
    const audits: ShardAudit[] = [];
    for (const [shard, found] of (await roomsIn(store, keys)).entries()) {
      const { keyPrefixes, ...shardKeys } = keys.shard(shard);
      const fields = { pool: poolNumbers(pool), keyPrefixes, found: [...found] };
      // Looks at the state as it is, whatever its epoch.
      const command = JSON.stringify({ ...fields, kind: 'audit', policy: { recoveryMs: 0 } });
      const text = await store.eval(script, { keys: sharedKeys(shardKeys), arguments: [command] });
      const { marked, ...told } = reply.parse(JSON.parse(z.string().parse(text)));
      audits.push({ shard, free: pool.perShard - marked, ...told });
    }
    return audits;
  });
}

/** The codes of each shard that have keys. Nothing else finds a room that is in no sorted set. */
async function roomsIn(store: Store, keys: Keys): Promise<readonly ReadonlySet<RoomCode>[]> {
  const codes = Array.from({ length: SHARDS }, () => new Set<RoomCode>());
  for (const pattern of keys.patterns) {
    for await (const batch of store.scan(pattern)) {
      for (const key of batch) {
        const code = keys.codeIn(key);
        if (code !== undefined) codes[shardOf(code)]?.add(code);
      }
    }
  }
  return codes;
}
