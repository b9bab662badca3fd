/** Connections to Redis: made, checked, kept alive and closed. */
import { createClient } from 'redis';
import { backoffMs } from '../support/backoff.ts';
import { type Chance, systemChance } from '../support/chance.ts';
import { systemClock } from '../support/clock.ts';
import { withDeadline } from '../support/deadline.ts';
import { createReconnect } from './reconnect.ts';
import { addressOf } from './url.ts';

export type RedisClient = ReturnType<typeof createClient>;

/** `state` runs scripts, `pub` publishes, `sub` subscribes. Three connections, so that none waits for the work of another. */
export type RedisRole = 'state' | 'pub' | 'sub';

export interface RedisConnectOptions {
  /** `redis://`, `rediss://` or `unix://`. May contain credentials, so it is never repeated in an error or a log line. */
  url: string;
  /** Deadline of the first connect and the check of the server, retries included. */
  connectMs?: number;
  /** Interval of PING on each connection. */
  pingMs?: number;
  /** A connection without a reply for so long is closed and made again. More than `pingMs`. */
  silenceMs?: number;
  /** For the jitter of reconnects. */
  chance?: Chance;
  /** For operators: what no caller can act on. */
  warn?: (message: string) => void;
  /** A connection came up or was lost. One call for each change, not for each attempt. */
  onConnectionChange?: (role: RedisRole, up: boolean, error: Error | undefined) => void;
}

export interface RedisClients extends AsyncDisposable, Readonly<Record<RedisRole, RedisClient>> {
  /** Host and port, without credentials: for logs. */
  readonly address: string;
  /** Whether it is a node of a Cluster, where all keys of a script must be in one hash slot. */
  readonly clustered: boolean;
  /** The number of the database that the URL names. */
  readonly database: number;
  /** Connects all of them anew, to whichever server the name leads to now; with pauses, however often it is called. */
  reconnect(): void;
  /** Never hangs and never rejects. */
  close(): Promise<void>;
}

const ROLES = ['state', 'pub', 'sub'] as const;
const CLOSE_MS = 1_000;
const RECONNECT = { firstMs: 50, maxMs: 500 };
/** Sharded Pub/Sub came with it. */
const MIN_REDIS_VERSION = 7;

/**
 * Connects all three roles and checks the server: its version, and that it evicts no keys.
 *
 * @throws Error that names the address and says what to change.
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
  const timedOut = (): Error =>
    new Error(`Redis at ${address} did not answer within ${connectMs} ms (${lastError.message ?? 'no reply'})`);
  try {
    const ready = Promise.all(ROLES.map((role) => clients[role].connect()));
    const clustered = await withDeadline(
      ready.then(() => checkServer(clients.state, address, options.warn)),
      connectMs,
      timedOut,
    );
    const database = clients.state.options.database ?? 0;
    const reconnect = createReconnect(Object.values(clients), systemClock);
    return { ...clients, address, clustered, database, reconnect, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** 50, 100, 200, 400, 500 ms, and up to 100 ms of jitter. Always a number: for `false` or an Error the client gives up. */
export function reconnectMs(retries: number, chance: Chance): number {
  return backoffMs(retries, RECONNECT) + Math.floor(chance.fraction() * 100);
}

function standalone(options: RedisConnectOptions, onError: (error: Error) => void): Record<RedisRole, RedisClient> {
  const make = (role: RedisRole): RedisClient => createRoleClient(role, options, onError);
  return { state: make('state'), pub: make('pub'), sub: make('sub') };
}

/** A client that is not connected yet. Once connected, it reconnects for ever. */
export function createRoleClient<Role extends string>(
  role: Role,
  options: Omit<RedisConnectOptions, 'onConnectionChange'> & {
    onConnectionChange?: (role: Role, up: boolean, error: Error | undefined) => void;
  },
  onError: (error: Error) => void,
): RedisClient {
  const client = createClient({
    url: options.url,
    name: `signalbox-${role}`,
    // node-redis' own time-out bounds only unwritten commands, and costs an AbortSignal for each: see withDeadline.
    commandOptions: { timeout: 0 },
    // An offline queue would send stale writes and messages after an outage. Subscriptions do not go stale.
    disableOfflineQueue: role !== 'sub',
    maintNotifications: 'disabled',
    disableClientInfo: true,
    // With a PING every few seconds, a healthy connection is never silent (a subscriber's neither), so silence means that
    // the peer is gone. The kernel notices a link that drops packets only after 15 minutes.
    pingInterval: options.pingMs ?? 5_000,
    socket: {
      reconnectStrategy: (retries) => reconnectMs(retries, options.chance ?? systemChance),
      socketTimeout: options.silenceMs ?? 15_000,
      connectTimeout: 5_000,
    },
  });
  watch(client, (up, error) => options.onConnectionChange?.(role, up, error), onError);
  return client as RedisClient; // the option literals narrow type parameters that no caller needs
}

interface WatchedClient {
  readonly isReady: boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'ready', listener: () => void): unknown;
}

/** Listens to `error` in any case: without a listener a lost connection ends the process. */
function watch(
  client: WatchedClient,
  onConnectionChange: (up: boolean, error: Error | undefined) => void,
  onError: (error: Error) => void,
): void {
  let up = false;
  client.on('ready', () => {
    up = true;
    onConnectionChange(true, undefined);
  });
  client.on('error', (error) => {
    onError(error);
    if (!up || client.isReady) return;
    up = false;
    onConnectionChange(false, error);
  });
}

/** `close()` of node-redis waits for replies, for ever when Redis is frozen. */
export async function closeBounded(client: RedisClient): Promise<void> {
  try {
    if (client.isOpen) await withDeadline(client.close(), CLOSE_MS, () => new Error('close took too long'));
  } catch {
    // Destroyed below: no caller could act on this error.
  }
  client.destroy();
}

/** @returns whether the server is a node of a Cluster. */
async function checkServer(client: RedisClient, address: string, warn: RedisConnectOptions['warn']): Promise<boolean> {
  const server = await info(client, 'server', warn);
  const version = server.get('redis_version');
  // Valkey reports redis_version 7.2.4, and its own version beside it.
  if (version !== undefined && !server.has('valkey_version') && Number.parseInt(version, 10) < MIN_REDIS_VERSION) {
    throw new Error(
      `Redis at ${address} is version ${version}: Redis ${MIN_REDIS_VERSION} or Valkey is needed (sharded Pub/Sub)`,
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
  // Hosted Redis often allows INFO but not CONFIG.
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
    warn?.(`cannot read the version of Redis; ${MIN_REDIS_VERSION} or newer is needed (${reason(error)})`);
    return new Map();
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
