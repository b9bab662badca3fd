/** Where things are kept, and for how long. */
import { z } from 'zod';
import { DATABASE_URLS, isDatabaseUrl } from '../../database/url.ts';
import { DEFAULT_PREFIX } from '../../engine/engine.ts';
import { HOUR, integer, type OptionEntry, optionalText, optionEntry } from './entry.ts';

export const STORES = {
  redisUrl: optionalText(
    'Redis of all nodes (redis:// or rediss://). Without it, one node keeps everything in memory.',
    {
      env: 'REDIS_URL',
      secret: true,
    },
  ),
  redisPrefix: optionEntry(
    'text',
    z
      .string()
      .regex(/^[A-Za-z0-9:_-]{1,32}$/)
      .default(DEFAULT_PREFIX),
    'Begins every key and channel in Redis.',
  ),
  databaseUrl: optionEntry(
    'text',
    z
      .string()
      .refine(isDatabaseUrl, { error: `must be ${DATABASE_URLS}` })
      .optional(),
    'Database of all nodes, for references and call records: postgres://, mysql:// or sqlite:path.',
    { env: 'DATABASE_URL', secret: true },
  ),
  dataDir: optionalText(
    'Directory of what outlasts a restart (one node, no Redis, no databaseUrl); signalbox serve takes ./data unless given.',
  ),
  feedMaxEvents: integer(
    50_000,
    0,
    10_000_000,
    'How many events are kept for those who read the feed late, call records among them; 0 turns the feed off.',
  ),
  callRetentionMs: integer(
    90 * 24 * HOUR,
    0,
    Number.MAX_SAFE_INTEGER,
    'How long the record of a call is kept after its end; 0 for ever.',
  ),
  referencePrefix: optionEntry(
    'text',
    z
      .string()
      .regex(/^[A-Za-z0-9:_-]{1,32}$/)
      .optional(),
    'Begins the keys of references in Redis: ecm gives ecm:ref:1. The redisPrefix unless given.',
  ),
  itemTypes: optionEntry(
    'list',
    z.array(z.string()).default([]),
    'More types of references, beside order, user, product and room: name=number:PREFIX:width, such as invoice=5:INV:8.',
  ),
  userIds: optionEntry(
    'text',
    z.enum(['random', 'reference']).default('random'),
    'How users without an identity are named: random, or reference (USR202600000001), where references are counted.',
  ),
} as const satisfies Record<string, OptionEntry>;
