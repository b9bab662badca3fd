/** `signalbox pool`: prints the figures of the pool, and checks the data in Redis with `--audit`. */
import { auditShards, type ShardAudit } from '../engine/redis/audit.ts';
import { createRedisEngine } from '../engine/redis/index.ts';
import type { NodeId } from '../protocol/ids.ts';
import { SHARDS } from '../room/pool.ts';
import { poolFigures } from '../server/monitoring/pool-monitor.ts';
import { OptionError, type PartialOptions, policyOf, poolOf, readOptions } from '../server/options/options.ts';
import { systemRandom } from '../support/random.ts';
import { createCliLog } from './log.ts';

const NODE_ID_BYTES = 6;

interface PoolFlags {
  readonly json: boolean;
  readonly audit: boolean;
}

/** @returns false when the audit found inconsistent data. */
export async function showPool(given: PartialOptions, flags: PoolFlags): Promise<boolean> {
  if (given.redisUrl === undefined) {
    throw new OptionError(
      '--redis-url',
      'required: without Redis the pool is in the memory of the server; use GET /v1/pool of its API',
    );
  }
  const options = readOptions(given);
  const pool = poolOf(options);
  // Random: processes in two containers may have one pid.
  const nodeId = `pool-${systemRandom.text(NODE_ID_BYTES)}` as NodeId;
  const settings = { nodeId, policy: policyOf(options), pool, feedMaxEvents: 0 };
  const store = { url: given.redisUrl, prefix: options.redisPrefix };
  const engine = await createRedisEngine({ ...store, log: createCliLog('warn') })(settings);
  try {
    const stats = await Promise.all(
      Array.from({ length: SHARDS }, (_, shard) => engine.apply({ kind: 'stats', shard })),
    );
    const figures = poolFigures(pool, stats);
    const disagreements = flags.audit ? (await auditShards({ ...store, pool })).flatMap(withShard) : undefined;
    print(flags.json, { ...figures, ...(disagreements && { disagreements }) });
    return disagreements === undefined || disagreements.length === 0;
  } finally {
    await engine.close();
  }
}

const withShard = ({ shard, disagreements }: ShardAudit): string[] =>
  disagreements.map((disagreement) => `shard ${String(shard).padStart(2, '0')}: ${disagreement}`);

function print(
  json: boolean,
  { disagreements, ...figures }: { disagreements?: readonly string[]; [figure: string]: unknown },
): void {
  const lines = json
    ? [JSON.stringify({ ...figures, ...(disagreements && { disagreements }) })]
    : [
        ...Object.entries(figures).map(([name, value]) => `${name.padEnd(10)} ${String(value).padStart(9)}`),
        ...(disagreements === undefined ? [] : auditLines(disagreements)),
      ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const auditLines = (disagreements: readonly string[]) =>
  disagreements.length === 0 ? ['audit       consistent'] : ['audit', ...disagreements.map((line) => `  ${line}`)];
