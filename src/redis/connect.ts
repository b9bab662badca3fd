import { createClient } from 'redis';
import { backoffMs } from '../support/backoff.ts';
import { type Chance, systemChance } from '../support/chance.ts';
import { withDeadline } from '../support/deadline.ts';

export type RedisClient = ReturnType<typeof createClient>;

/** `state` runs scripts, `pub` publishes, `sub` subscribes. Three connections, so that none waits behind another's work. */
export type RedisRole = 'state' | 'pub' | 'sub';

export interface RedisConnectOptions {
  /** `redis://`, `rediss://` or `unix://`. May hold credentials, so it is never repeated in an error or a log line. */
  url: string;
  /** How long the first connect and the check of the server may take together with retries. */
  connectMs?: number;
  /** How often each connection asks whether the other end is still there. */
  pingMs?: number;
  /** A connection that was silent this long is given up and made again. More than `pingMs`. */
  silenceMs?: number;
  /** What an operator should know and no caller can act on. */
  warn?: (message: string) => void;
  /** A connection came up or was lost: one call for each change, not one for each attempt. */
  onLink?: (role: RedisRole, up: boolean, error: Error | undefined) => void;
}

export interface RedisClients extends AsyncDisposable, Readonly<Record<RedisRole, RedisClient>> {
  /** Host and port, without credentials: fit for logs. */
  readonly address: string;
  /** Whether it is a node of a Cluster, where a script stays in one slot. */
  readonly clustered: boolean;
  /** Never hangs and never rejects. */
  close(): Promise<void>;
}

const ROLES = ['state', 'pub', 'sub'] as const;
const CLOSE_MS = 1_000;
const RECONNECT = { firstMs: 50, maxMs: 500 };
const OLDEST_REDIS = 7;

/**
 * Connects all three roles and checks that the server is one we can live with. Rejects with one error that names the
 * address. Sentinel and Cluster get their own function beside `standalone`; what the rest of the engine sees stays.
 */
export async function connectRedis(options: RedisConnectOptions): Promise<RedisClients> {
  const address = addressOf(options.url);
  const lastError: { message?: string } = {};
  const clients = standalone(options, (error) => {
    lastError.message = error.message;
  });
  const close = async (): Promise<void> => {
    await Promise.all(ROLES.map((role) => closeBounded(clients[role])));
  };
  const connectMs = options.connectMs ?? 5_000;
  const tooLate = (): Error =>
    new Error(`Redis at ${address} did not answer within ${connectMs} ms (${lastError.message ?? 'no reply'})`);
  try {
    const ready = Promise.all(ROLES.map((role) => clients[role].connect()));
    const clustered = await withDeadline(
      ready.then(() => checkServer(clients.state, address, options.warn)),
      connectMs,
      tooLate,
    );
    return { ...clients, address, clustered, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** 50, 100, 200, 400, 500 ms with jitter. Always a number: `false` or an Error would end the client for good. */
export function reconnectDelay(retries: number, chance: Chance = systemChance): number {
  return backoffMs(retries, RECONNECT) + Math.floor(chance.fraction() * 100);
}

function standalone(options: RedisConnectOptions, onError: (error: Error) => void): Record<RedisRole, RedisClient> {
  const make = (role: RedisRole): RedisClient => createRoleClient(role, options, onError);
  return { state: make('state'), pub: make('pub'), sub: make('sub') };
}

/** A client that is still to be connected, and then connects again for ever. */
export function createRoleClient<Role extends string>(
  role: Role,
  options: Omit<RedisConnectOptions, 'onLink'> & {
    onLink?: (role: Role, up: boolean, error: Error | undefined) => void;
  },
  onError: (error: Error) => void,
): RedisClient {
  const client = createClient({
    url: options.url,
    name: `signalbox-${role}`,
    // node-redis' own timeout bounds only unwritten commands and costs an AbortSignal for each: our deadlines do it.
    commandOptions: { timeout: 0 },
    // An offline queue would deliver stale writes and messages after an outage.
    disableOfflineQueue: role !== 'sub',
    maintNotifications: 'disabled',
    disableClientInfo: true,
    // The ping keeps a healthy connection from ever being silent (a subscriber too), and silence then means that the
    // other end is gone: a link that swallows packets would otherwise be noticed by the kernel after 15 minutes.
    pingInterval: options.pingMs ?? 5_000,
    socket: {
      reconnectStrategy: (retries) => reconnectDelay(retries),
      socketTimeout: options.silenceMs ?? 15_000,
      connectTimeout: 5_000,
    },
  });
  watch(client, (up, error) => options.onLink?.(role, up, error), onError);
  return client as RedisClient; // the option literals narrow type parameters that no caller needs
}

interface Watched {
  readonly isReady: boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ready', listener: () => void): unknown;
}

/** Without an `error` listener a lost connection ends the process. */
function watch(
  client: Watched,
  onLink: (up: boolean, error: Error | undefined) => void,
  onError: (error: Error) => void,
): void {
  let up = false;
  client.on('ready', () => {
    up = true;
    onLink(true, undefined);
  });
  client.on('error', (error) => {
    onError(error);
    if (!up || client.isReady) return;
    up = false;
    onLink(false, error);
  });
}

/** `close()` waits for replies, for ever when Redis is frozen. */
export async function closeBounded(client: RedisClient): Promise<void> {
  try {
    if (client.isOpen) await withDeadline(client.close(), CLOSE_MS, () => new Error('close took too long'));
  } catch {
    // Destroyed below: closing has no outcome that anybody could act on.
  }
  client.destroy();
}

/** @returns whether it is a node of a Cluster. */
async function checkServer(client: RedisClient, address: string, warn: RedisConnectOptions['warn']): Promise<boolean> {
  const server = await info(client, 'server', warn);
  const version = server.get('redis_version');
  // Valkey reports itself as Redis 7.2.4 and adds a version of its own.
  if (version !== undefined && !server.has('valkey_version') && Number.parseInt(version, 10) < OLDEST_REDIS) {
    throw new Error(
      `Redis at ${address} is version ${version}: Redis ${OLDEST_REDIS} or Valkey is needed (sharded Pub/Sub)`,
    );
  }
  const policy = await maxmemoryPolicy(client, warn);
  if (policy === undefined || policy === 'noeviction') {
    return (await info(client, 'cluster', undefined)).get('cluster_enabled') === '1';
  }
  throw new Error(
    `Redis at ${address} has maxmemory-policy "${policy}": set "noeviction", or rooms vanish when memory is short`,
  );
}

async function maxmemoryPolicy(client: RedisClient, warn: RedisConnectOptions['warn']): Promise<string | undefined> {
  // INFO says it too, and hosted Redis often allows INFO but not CONFIG.
  const fromInfo = (await info(client, 'memory', undefined)).get('maxmemory_policy');
  if (fromInfo !== undefined) return fromInfo;
  try {
    return (await client.configGet('maxmemory-policy'))['maxmemory-policy'];
  } catch (error) {
    warn?.(`cannot read the maxmemory-policy of Redis; make sure that it is noeviction (${reason(error)})`);
    return undefined;
  }
}

async function info(
  client: RedisClient,
  section: string,
  warn: RedisConnectOptions['warn'],
): Promise<Map<string, string>> {
  try {
    const text = await client.info(section);
    const lines = text.split(/\r?\n/).filter((line) => line.includes(':'));
    return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
  } catch (error) {
    warn?.(`cannot read the version of Redis; ${OLDEST_REDIS} or newer is needed (${reason(error)})`);
    return new Map();
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function addressOf(url: string): string {
  // The parser's own errors repeat the URL, and with it the password.
  if (!URL.canParse(url)) throw new Error('the Redis URL cannot be parsed: expected redis://host:port');
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol === 'unix:') return pathname;
  if (protocol !== 'redis:' && protocol !== 'rediss:') {
    throw new Error(`the Redis URL starts with ${protocol}// : expected redis://, rediss:// or unix://`);
  }
  return `${hostname || 'localhost'}:${port || '6379'}`;
}
