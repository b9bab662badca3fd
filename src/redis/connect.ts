/** Connections to Redis: made, checked, kept alive and closed. */
import { systemClock } from '../support/clock.ts';
import { withDeadline } from '../support/deadline.ts';
import type { RedisClient } from './client.ts';
import { createReconnect } from './reconnect.ts';
import { closeBounded, createRoleClients, type RoleClientOptions } from './role-client.ts';
import { addressOf, databaseOf } from './url.ts';

/** `state` runs scripts, `pub` publishes, `sub` subscribes. Three connections, so that none waits for the work of another. */
export type RedisRole = 'state' | 'pub' | 'sub';

export interface RedisConnectOptions extends RoleClientOptions<RedisRole> {
  /** Deadline of the first connect and the check of the server, retries included. */
  connectMs?: number;
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
  const clients = createRoleClients(ROLES, options, (error) => {
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
      ready.then(() => checkAll(clients.state, address, options.warn)),
      connectMs,
      timedOut,
    );
    const database = databaseOf(options.url);
    const { cluster } = clients.state;
    const reconnect = cluster ? () => cluster.refresh() : createReconnect(Object.values(clients), systemClock);
    return { ...clients, address, clustered, database, reconnect, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Server = Pick<RedisClient, 'info' | 'configGet'>;

/** @returns whether the server is a node of a Cluster. */
async function checkAll(client: RedisClient, address: string, warn: RedisConnectOptions['warn']): Promise<boolean> {
  const { cluster } = client;
  if (cluster === undefined) {
    const clustered = await checkServer(client, address, warn);
    if (clustered) await checkOnlyMaster(client, address);
    return clustered;
  }
  for (const name of cluster.names) {
    const master = cluster.client(name);
    if (master === undefined) throw new Error(`${address}: the connection to the master ${name} was lost`);
    await checkServer(master, `${name}, a master of the Cluster,`, warn);
  }
  return true;
}

async function checkServer(client: Server, address: string, warn: RedisConnectOptions['warn']): Promise<boolean> {
  const server = await info(client, 'server', warn);
  const version = server.get('redis_version');
  // Valkey reports redis_version 7.2.4, and its own version beside it.
  if (version !== undefined && !server.has('valkey_version') && Number.parseInt(version, 10) < MIN_REDIS_VERSION) {
    throw new Error(
      `Redis at ${address} is version ${version}: Redis ${MIN_REDIS_VERSION} or Valkey is needed (sharded Pub/Sub)`,
    );
  }
  const policy = await maxmemoryPolicy(client, warn);
  if (policy !== undefined && policy !== 'noeviction') {
    throw new Error(
      `Redis at ${address} has maxmemory-policy "${policy}": set "noeviction", or rooms vanish when memory is short`,
    );
  }
  return (await info(client, 'cluster', undefined)).get('cluster_enabled') === '1';
}

/** A URL of one server serves a Cluster of one master only: the keys of the others would be out of reach. */
async function checkOnlyMaster(client: RedisClient, address: string): Promise<void> {
  const text = String(await client.sendCommand(['CLUSTER', 'INFO']).catch(() => '')); // not permitted to all users
  const masters = Number(/cluster_size:(\d+)/.exec(text)?.[1] ?? 1);
  if (masters <= 1) return;
  throw new Error(`Redis at ${address} is one of ${masters} masters of a Cluster: use redis+cluster://`);
}

async function maxmemoryPolicy(client: Server, warn: RedisConnectOptions['warn']): Promise<string | undefined> {
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
  client: Pick<Server, 'info'>,
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
