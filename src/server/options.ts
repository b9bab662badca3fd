/**
 * Every option and its default, once. An option has one name in three spellings: `graceMs` here, `--grace-ms` on the
 * command line, `SIGNALBOX_GRACE_MS` in the environment; the latter two are derived from this table.
 */
import { z } from 'zod';
import { DATABASE_URLS, isDatabaseUrl } from '../database/url.ts';
import { DEFAULT_PREFIX } from '../engine/engine.ts';
import { FEED_TYPES } from '../protocol/feed.ts';
import { DEFAULT_CODE_DIGITS, MAX_CODE_DIGITS } from '../protocol/ids.ts';
import { LIMITS } from '../protocol/limits.ts';
import { ItemTypeError, readItemTypes } from '../reference/item-types.ts';
import { allCodes, createPool, type Pool } from '../room/pool.ts';
import type { Policy } from '../room/room.ts';
import { readWebhooks, WebhookOptionError } from '../webhooks/settings.ts';
import { keyOf } from '../webhooks/signature.ts';
import { AdminTokenError, readAdminTokens } from './admin-tokens.ts';

type Kind = 'text' | 'number' | 'flag' | 'list';

interface Entry<Schema extends z.ZodType = z.ZodType> {
  readonly kind: Kind;
  readonly schema: Schema;
  readonly about: string;
  /** A plain name that is understood beside the SIGNALBOX_ one. */
  readonly env?: string;
  /** Never printed. */
  readonly secret?: true;
}

type Extra = Pick<Entry, 'env' | 'secret'>;

function entry<Schema extends z.ZodType>(kind: Kind, schema: Schema, about: string, extra: Extra = {}): Entry<Schema> {
  return { kind, schema, about, ...extra };
}

const text = (fallback: string, about: string, extra?: Extra) =>
  entry('text', z.string().default(fallback), about, extra);
const optionalText = (about: string, extra?: Extra, least = 1) =>
  entry('text', z.string().min(least).optional(), about, extra);
const whole = (fallback: number, least: number, most: number, about: string, extra?: Extra) =>
  entry('number', z.int().min(least).max(most).default(fallback), about, extra);
const milliseconds = (fallback: number, about: string, least = 1) => whole(fallback, least, 2 ** 31 - 1, about);
const flag = (fallback: boolean, about: string) => entry('flag', z.boolean().default(fallback), about);
const list = (fallback: string[], about: string) => entry('list', z.array(z.string().min(1)).default(fallback), about);

/** RFC 7064 and 7065. A browser that is given one malformed address makes no connection at all. */
const STUN_URL = /^stuns?:[^\s/?#@,]+$/;
const TURN_URL = /^turns?:[^\s/?#@,]+(\?transport=(udp|tcp))?$/;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const DEFAULT_SOCKET_PATH = '/socket.io/';

export const OPTIONS = {
  host: text('0.0.0.0', 'Address to listen on.', { env: 'HOST' }),
  port: whole(3000, 0, 65_535, 'Port to listen on; 0 takes a free one.', { env: 'PORT' }),
  nodeId: entry(
    'text',
    z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .optional(),
    'Name of this node; drawn by chance unless given. No two nodes may share one.',
  ),
  redisUrl: optionalText(
    'Redis of all nodes (redis:// or rediss://). Without it, one node keeps everything in memory.',
    {
      env: 'REDIS_URL',
      secret: true,
    },
  ),
  redisPrefix: entry(
    'text',
    z
      .string()
      .regex(/^[A-Za-z0-9:_-]{1,32}$/)
      .default(DEFAULT_PREFIX),
    'Begins every key and channel in Redis.',
  ),
  databaseUrl: entry(
    'text',
    z
      .string()
      .refine(isDatabaseUrl, { error: `must be ${DATABASE_URLS}` })
      .optional(),
    'Database of all nodes, for references and call records: postgres://, mysql:// or sqlite:path.',
    { env: 'DATABASE_URL', secret: true },
  ),
  dataDir: optionalText(
    'Directory of what outlasts a restart, for one node without Redis and databaseUrl; the command line takes data.',
  ),
  callsKeptMs: whole(
    90 * 24 * HOUR,
    0,
    Number.MAX_SAFE_INTEGER,
    'How long the record of a call is kept after its end; 0 for ever.',
  ),
  site: entry(
    'text',
    z
      .string()
      .regex(/^[A-Za-z0-9:_-]{1,32}$/)
      .optional(),
    'Begins the keys of references in Redis: ecm gives ecm:ref:1. The redisPrefix unless given.',
  ),
  itemTypes: entry(
    'list',
    z.array(z.string()).default([]),
    'More types of references, beside order, user, product and room: name=number:PREFIX:width, such as invoice=5:INV:8.',
  ),
  userIds: entry(
    'text',
    z.enum(['random', 'reference']).default('random'),
    'How users without an identity are named: random, or reference (USR202600000001), where references are counted.',
  ),
  secret: optionalText(
    'Signs resume tokens; the same on every node; 16 characters or more. Without it, the nodes share one through the store.',
    { secret: true },
    16,
  ),
  adminToken: optionalText(
    'Bearer token of the administrative API; 16 characters or more. Without it, that API answers nobody.',
    { secret: true },
    16,
  ),
  adminTokens: entry(
    'list',
    z.array(z.string()).default([]),
    'More bearer tokens of that API: name=read:TOKEN or name=write:TOKEN (which may read too).',
    { secret: true },
  ),
  apiPerMinute: whole(600, 1, 10_000_000, 'Requests per minute that each of these tokens may make, of each node.'),
  apiDocs: flag(true, 'Serve the documentation of that API at /docs.'),
  allowedOrigins: list(
    [],
    'Origins whose pages may connect, such as https://example.org; * for all. Same host and localhost always may.',
  ),
  trustedProxies: list([], 'Addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For is believed.'),
  transports: entry(
    'list',
    z
      .array(z.enum(['websocket', 'polling']))
      .min(1)
      .default(['websocket']),
    'Transports clients may use; polling needs sticky sessions over several nodes.',
  ),
  socketPath: entry(
    'text',
    z
      .string()
      .regex(/^(\/[A-Za-z0-9._~-]+)+\/?$/, 'must be such as /socket.io/')
      .transform((path) => (path.endsWith('/') ? path : `${path}/`))
      .default(DEFAULT_SOCKET_PATH),
    'Path of Socket.IO; clients are told another one by their option `path`. The demo page knows the default only.',
  ),
  demo: flag(true, 'Serve the demo page at /.'),
  sdk: flag(true, 'Serve the SDK for browsers at /signalbox.js.'),
  stunUrls: entry(
    'list',
    z.array(z.string().regex(STUN_URL, 'must be such as stun:stun.example.org:3478')).default([]),
    'STUN servers handed to clients, such as stun:stun.example.org:3478.',
  ),
  turnUrls: entry(
    'list',
    z.array(z.string().regex(TURN_URL, 'must be such as turn:turn.example.org:3478?transport=udp')).default([]),
    'Addresses of the TURN server handed to members, such as turn:turn.example.org:3478?transport=udp.',
  ),
  turnSecrets: entry(
    'list',
    z.array(z.string().min(16)).max(2).default([]),
    'What the TURN server calls its static-auth-secret, 16 characters or more; while it is changed, two: the new one first.',
    { env: 'TURN_SECRET', secret: true },
  ),

  feedKept: whole(
    50_000,
    0,
    10_000_000,
    'How many events are kept for those who read the feed late, call records among them; 0 turns the feed off.',
  ),
  webhookUrls: entry(
    'list',
    z.array(z.string()).default([]),
    'Where the events of the feed are posted to, such as https://example.org/hooks; the same on every node.',
    { secret: true },
  ),
  webhookSecrets: entry(
    'list',
    z
      .array(z.string().refine((text) => keyOf(text) !== undefined, 'must be whsec_<base64>, or 16 characters or more'))
      .max(2)
      .default([]),
    'Signs those events: whsec_<base64>, or 16 characters or more; while it is changed, two: the new one first.',
    { secret: true },
  ),
  webhookEvents: entry(
    'list',
    z.array(z.enum(FEED_TYPES)).default([]),
    'The types of events that are posted, such as room_created; all unless given.',
  ),
  webhookPrivate: flag(false, 'Post events to private addresses too, and without TLS (http:).'),
  webhookTimeoutMs: milliseconds(10 * SECOND, 'How long the receiver of an event may take to answer.'),
  webhookGiveUpMs: milliseconds(
    24 * HOUR,
    'How long an event is posted again and again before it is a dead letter.',
    0,
  ),

  codeDigits: whole(DEFAULT_CODE_DIGITS, DEFAULT_CODE_DIGITS, MAX_CODE_DIGITS, 'Digits of a room code.'),
  poolSize: entry(
    'number',
    z.int().optional(),
    'How many codes there are: a multiple of 100; all of that length unless given.',
  ),
  poolLowWater: entry(
    'number',
    z.number().min(0).max(1).default(0.1),
    'Share of free codes below which the pool is reported low.',
  ),
  maxUsers: whole(
    LIMITS.maxUsersDefault,
    LIMITS.maxUsersLeast,
    LIMITS.maxUsersMost,
    'Members of a room, unless its creator says otherwise.',
  ),
  closeOnHostLeave: flag(
    false,
    'A room ends when its host is gone; otherwise the longest-present member becomes host.',
  ),

  pingIntervalMs: milliseconds(10 * SECOND, 'How often the server pings a connection.'),
  pingTimeoutMs: milliseconds(5 * SECOND, 'How long it waits for the answer.'),
  heartbeatIntervalMs: milliseconds(30 * SECOND, 'How often a client sends its heartbeat.'),
  userTtlMs: milliseconds(MINUTE, 'How long a user and its seat are kept without a sign of life.', 200),
  graceMs: milliseconds(30 * SECOND, 'How long the seat of a lost connection is kept.'),
  roomIdleMs: milliseconds(30 * MINUTE, 'A room in which nobody asks for anything ends after this.'),
  roomEmptyMs: milliseconds(5 * MINUTE, 'An empty room ends after this.'),
  roomMaxAgeMs: milliseconds(24 * HOUR, 'Every room ends after this.'),
  codeCooldownMs: milliseconds(10 * MINUTE, 'How long a released code is not handed out.', 0),
  tickMs: milliseconds(10 * SECOND, 'In this time, every node looks after every shard once.', 100),
  drainMs: milliseconds(30 * SECOND, 'How long a shutdown may take.', 100),
  resumeTtlMs: milliseconds(7 * 24 * HOUR, 'How long a resume token is good.'),
  turnTtlMs: milliseconds(HOUR, 'How long credentials for the TURN server are good; members get new ones in time.'),

  outboundBytes: whole(
    1024 * 1024,
    1024,
    2 ** 30,
    'What may wait for a client that does not read; then its connection is closed.',
  ),
  outboundMessages: whole(256, 1, 1_000_000, 'The same, counted in messages.'),
  frameBytes: whole(96 * 1024, 1024, 16 * 1024 * 1024, 'Largest frame; a larger one ends its connection.'),
  connectTimeoutMs: milliseconds(5 * SECOND, 'A connection that does not complete its handshake is closed after this.'),
  headersTimeoutMs: milliseconds(10 * SECOND, 'An HTTP request whose headers do not arrive in this time is closed.'),
  eventsPerSecond: whole(20, 1, 1_000_000, 'Requests per second that a connection may go on making.'),
  eventsBurst: whole(100, 1, 1_000_000, 'Requests that it may make at once.'),
  strikes: whole(10, 1, 1_000_000, 'Requests over that budget after which the connection is closed.'),
  freeMisses: whole(5, 0, 1_000_000, 'Wrong codes that an address may try before it has to wait.'),
} as const satisfies Record<string, Entry>;

export type OptionName = keyof typeof OPTIONS;

/** Options with every default filled in. */
export type Options = { [Name in OptionName]: z.infer<(typeof OPTIONS)[Name]['schema']> };
export type PartialOptions = { [Name in OptionName]?: Options[Name] | undefined };

/** An option that makes no sense. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
  readonly option: string;
  constructor(option: string, reason: string) {
    super(`${option}: ${reason}`);
    this.option = option;
  }
}

/**
 * Checks options and fills in the defaults.
 *
 * @throws OptionError naming the first option that is unknown, malformed, or at odds with another.
 */
export function readOptions(given: PartialOptions): Options {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(OPTIONS, name)) throw new OptionError(name, 'no such option');
  const read = Object.entries(OPTIONS).map(([name, { schema }]) => {
    const value = schema.safeParse(Reflect.get(given, name));
    if (!value.success) throw new OptionError(name, value.error.issues[0]?.message ?? 'malformed');
    return [name, value.data];
  });
  // Each value has been parsed by the schema that its type is inferred from.
  const options = keepUp(Object.fromEntries(read) as Options, given);
  checkTogether(options);
  return options;
}

/** Who shortens the life of a seat means the signs of life to keep up with it, unless it says otherwise. */
function keepUp(options: Options, given: PartialOptions): Options {
  const { userTtlMs, heartbeatIntervalMs, tickMs } = options;
  return {
    ...options,
    heartbeatIntervalMs: given.heartbeatIntervalMs ?? Math.min(heartbeatIntervalMs, Math.ceil(userTtlMs / 2)),
    tickMs: given.tickMs ?? Math.max(100, Math.min(tickMs, Math.ceil(userTtlMs / 6))),
  };
}

function checkTogether(options: Options): void {
  const { userTtlMs, heartbeatIntervalMs, tickMs, codeDigits, poolSize, frameBytes } = options;
  if (heartbeatIntervalMs >= userTtlMs)
    throw new OptionError('heartbeatIntervalMs', `must be less than userTtlMs (${userTtlMs})`);
  if (tickMs > userTtlMs / 2) throw new OptionError('tickMs', `must be at most half of userTtlMs (${userTtlMs})`);
  if (frameBytes < LIMITS.signalBytes + 1024)
    throw new OptionError('frameBytes', 'must leave room for a signal of 64 KiB');
  checkTurn(options);
  checkReferences(options);
  checkAdminTokens(options);
  checkWebhooks(options);
  try {
    createPool(codeDigits, poolSize ?? allCodes(codeDigits));
  } catch (error) {
    throw new OptionError('poolSize', error instanceof Error ? error.message : 'malformed');
  }
}

function checkTurn({ turnUrls, turnSecrets, turnTtlMs, tickMs }: Options): void {
  if (turnUrls.length === 0 && turnSecrets.length === 0) return;
  if (turnUrls.length === 0) throw new OptionError('turnUrls', 'needed beside turnSecrets');
  if (turnSecrets.length === 0) throw new OptionError('turnSecrets', 'needed beside turnUrls');
  // The tick renews them, and no member may be left with credentials that have ended.
  if (turnTtlMs < 4 * tickMs) throw new OptionError('turnTtlMs', `must be at least four times tickMs (${tickMs})`);
}

function checkReferences({ itemTypes, userIds, redisUrl, databaseUrl, dataDir }: Options): void {
  try {
    readItemTypes(itemTypes);
  } catch (error) {
    if (error instanceof ItemTypeError) throw new OptionError('itemTypes', error.message);
    throw error;
  }
  if (userIds === 'random' || databaseUrl !== undefined) return;
  if (redisUrl !== undefined) throw new OptionError('userIds', 'counted ones need a databaseUrl that all nodes share');
  if (dataDir === undefined) throw new OptionError('userIds', 'counted ones need a databaseUrl or a dataDir');
}

function checkWebhooks(options: Options): void {
  try {
    readWebhooks(options);
  } catch (error) {
    if (error instanceof WebhookOptionError) throw new OptionError(error.option, error.message);
    throw error;
  }
}

function checkAdminTokens({ adminToken, adminTokens }: Options): void {
  try {
    readAdminTokens(adminToken, adminTokens);
  } catch (error) {
    if (error instanceof AdminTokenError) throw new OptionError('adminTokens', error.message);
    throw error;
  }
}

export const poolOf = ({ codeDigits, poolSize }: Options): Pool =>
  createPool(codeDigits, poolSize ?? allCodes(codeDigits));

/** How long a create can be repeated with the same key: the protocol's word, not an option. */
const RECEIPT_MS = 10 * MINUTE;

export const policyOf = (options: Options): Policy => ({
  leaseMs: options.userTtlMs,
  graceMs: options.graceMs,
  idleMs: options.roomIdleMs,
  emptyMs: options.roomEmptyMs,
  maxAgeMs: options.roomMaxAgeMs,
  cooldownMs: options.codeCooldownMs,
  receiptMs: RECEIPT_MS,
  closeOnHostLeave: options.closeOnHostLeave,
});
