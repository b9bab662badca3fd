/** The operation that reads the figures of the pool of room codes. */
import { z } from 'zod';
import { type Pool, SHARDS } from '../../../room/pool.ts';
import type { ServerContext } from '../../context.ts';
import { poolFigures } from '../../monitoring/pool-monitor.ts';
import { poolOf } from '../../options/options.ts';
import type { CodeAllocator } from '../../rooms/code-allocator.ts';
import { type Operation, operation, operationSpec, respond } from './operation.ts';

export function poolOperations({ options }: ServerContext, allocator: CodeAllocator): Operation[] {
  const pool = poolOf(options);
  return [operation(READ_POOL, () => runReadPool(pool, allocator))];
}

const amount = z.int().nonnegative();
const figures = { free: amount, occupied: amount, cooling: amount };
const shardNumber = z
  .int()
  .min(0)
  .max(SHARDS - 1);

const READ_POOL = operationSpec({
  id: 'readPool',
  method: 'GET',
  path: '/pool',
  scope: 'read',
  tag: 'pool',
  summary: 'Read the figures of the pool',
  description:
    'The number of free, occupied and cooling codes: in total, and per shard (the last two digits of a code).',
  response: {
    statuses: { 200: 'The current figures.' },
    body: z.object({ ...figures, total: amount, shards: z.array(z.object({ shard: shardNumber, ...figures })) }),
    example: {
      free: 899_998,
      occupied: 1,
      cooling: 1,
      total: 900_000,
      shards: [{ shard: 0, free: 8_998, occupied: 1, cooling: 1 }],
    },
  },
  problems: [],
  example: {},
});

async function runReadPool(pool: Pool, allocator: CodeAllocator) {
  const stats = await allocator.stats();
  const shards = stats.map(({ occupied, cooling }, shard) => ({
    shard,
    free: pool.perShard - occupied - cooling,
    occupied,
    cooling,
  }));
  return respond(200, { ...poolFigures(pool, stats), shards });
}
