/** `signalbox pool`: how many codes are free, and whether the books agree. */
import { auditShards, type ShardAudit } from '../engine/redis/audit.ts';
import { createRedisEngine } from '../engine/redis/index.ts';
import type { NodeId } from '../protocol/ids.ts';
import { SHARDS } from '../room/pool.ts';
import { poolFigures } from '../server/monitoring/pool-monitor.ts';
import { OptionError, type PartialOptions, policyOf, poolOf, readOptions } from '../server/options/options.ts';
import { createCliLog } from './log.ts';

interface PoolFlags {
  readonly json: boolean;
  readonly audit: boolean;
}

/** @returns whether the books agree; they do when nobody asks. */
export async function showPool(given: PartialOptions, flags: PoolFlags): Promise<boolean> {
  if (given.redisUrl === undefined) {
    throw new OptionError(
      '--redis-url',
      'needed: without Redis the codes are in the server’s memory, ask its GET /v1/pool',
    );
  }
  const options = readOptions(given);
  const pool = poolOf(options);
  const settings = { nodeId: `pool-${process.pid}` as NodeId, policy: policyOf(options), pool, feedMaxEvents: 0 };
  const store = { url: given.redisUrl, prefix: options.redisPrefix };
  const engine = await createRedisEngine({ ...store, log: createCliLog('warn') })(settings);
  try {
    const stock = await Promise.all(
      Array.from({ length: SHARDS }, (_, shard) => engine.apply({ kind: 'stats', shard })),
    );
    const figures = poolFigures(pool, stock);
    const disagreements = flags.audit ? (await auditShards({ ...store, pool })).flatMap(inItsShard) : undefined;
    print(flags.json, { ...figures, ...(disagreements && { disagreements }) });
    return disagreements === undefined || disagreements.length === 0;
  } finally {
    await engine.close();
  }
}

const inItsShard = ({ shard, disagreements }: ShardAudit): string[] =>
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
  disagreements.length === 0 ? ['audit       the books agree'] : ['audit', ...disagreements.map((line) => `  ${line}`)];
