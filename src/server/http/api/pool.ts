/** The codes: how many are free, occupied and cooling, and where. */
import { z } from 'zod';
import { SHARDS } from '../../../room/pool.ts';
import type { ServerContext } from '../../context.ts';
import { poolFigures as sumOf } from '../../monitoring/pool-monitor.ts';
import { poolOf } from '../../options/options.ts';
import type { CodeAllocator } from '../../rooms/code-allocator.ts';
import { done, type Operation, operation } from './operation.ts';

const amount = z.int().nonnegative();
const figures = { free: amount, occupied: amount, cooling: amount };
const poolFiguresSchema = z.object({
  ...figures,
  total: amount,
  shards: z.array(
    z.object({
      shard: z
        .int()
        .min(0)
        .max(SHARDS - 1),
      ...figures,
    }),
  ),
});

export function poolOperations({ options }: ServerContext, allocator: CodeAllocator): Operation[] {
  const pool = poolOf(options);
  const reading = operation({
    id: 'readPool',
    method: 'GET',
    path: '/pool',
    scope: 'read',
    tag: 'pool',
    summary: 'Figures of the codes',
    about:
      'How many codes are free, occupied and cooling: together, and of each shard (the last two digits of a code).',
    answer: {
      statuses: { 200: 'The figures of this moment.' },
      body: poolFiguresSchema,
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
    async run() {
      const stats = await allocator.stats();
      const shards = stats.map(({ occupied, cooling }, shard) => ({
        shard,
        free: pool.perShard - occupied - cooling,
        occupied,
        cooling,
      }));
      return done(200, { ...sumOf(pool, stats), shards });
    },
  });
  return [reading];
}
