/** Options of Redis, the database, the feed and references. */
import { z } from 'zod';
import { databaseUrlProblem } from '../../database/url.ts';
import { DEFAULT_PREFIX } from '../../engine/engine.ts';
import { redisUrlProblem } from '../../redis/url.ts';
import { checkedBy, HOUR, integer, milliseconds, type OptionEntry, optionalText, optionEntry } from './entry.ts';

export const STORES = {
  redisUrl: optionEntry(
    'text',
    checkedBy(redisUrlProblem).optional(),
    'URL of the Redis that all nodes share (redis://, rediss:// or unix://; behind sentinels redis+sentinel:// or rediss+sentinel://; of a Cluster redis+cluster:// or rediss+cluster://). Without it, a single node keeps its state in memory.',
    { env: 'REDIS_URL', secret: true },
  ),
  redisPrefix: optionEntry(
    'text',
    z
      .string()
      .regex(/^[A-Za-z0-9:_-]{1,32}$/)
      .default(DEFAULT_PREFIX),
    'Prefix of all keys and channels in Redis: needed only by servers that share a database of one Redis.',
  ),
  databaseUrl: optionEntry(
    'text',
    checkedBy(databaseUrlProblem).optional(),
    'URL of the database that all nodes share, for references and call records: postgres://, mysql:// or sqlite:path.',
    { env: 'DATABASE_URL', secret: true },
  ),
  dataDir: optionalText(
    'Directory for data that survives a restart, of a single node without redisUrl and databaseUrl. Default of signalbox serve: ./data.',
  ),
  feedMaxEvents: integer(
    50_000,
    0,
    10_000_000,
    'Number of events kept in the feed for late readers, such as call records; 0 turns the feed off.',
  ),
  callRetentionMs: milliseconds(
    90 * 24 * HOUR,
    'Retention of call records after the end of the call; 0 keeps them for ever.',
    0,
    Number.MAX_SAFE_INTEGER,
  ),
  referencePrefix: optionEntry(
    'text',
    z
      .string()
      .regex(/^[A-Za-z0-9:_-]{1,32}$/)
      .optional(),
    'Prefix of the Redis keys of references: ecm gives ecm:ref:1. Default: redisPrefix.',
  ),
  itemTypes: optionEntry(
    'list',
    z.array(z.string()).default([]),
    'Reference types in addition to order, user, product and room: name=number:PREFIX:width, such as invoice=5:INV:8.',
  ),
  userIds: optionEntry(
    'text',
    z.enum(['random', 'reference']).default('random'),
    'Ids of users without an identity: random, or reference (USR202600000001), which needs a databaseUrl or a dataDir.',
  ),
} as const satisfies Record<string, OptionEntry>;
