/** Clients of Redis, named by their role: they connect again after any loss, and never queue commands meanwhile. */
import { backoffMs } from '../support/backoff.ts';
import { type Chance, systemChance } from '../support/chance.ts';
import { systemClock } from '../support/clock.ts';
import { withDeadline } from '../support/deadline.ts';
import type { RedisClient } from './client.ts';
import { createClusterClient } from './cluster/client.ts';
import { Topology } from './cluster/topology.ts';
import { isClusterUrl, readClusterUrl } from './cluster/url.ts';
import { createFollowingClient } from './following-client.ts';
import { createPlainClient, serverOf } from './plain-client.ts';
import { createSentinels } from './sentinel/sentinels.ts';
import { isSentinelUrl, readSentinelUrl } from './sentinel/url.ts';

export interface RoleClientOptions<Role extends string> {
  /** As `redisUrl` has it. May contain credentials, so it is never repeated in an error or a log line. */
  url: string;
  /** Interval of PING on each connection. */
  pingMs?: number;
  /** A connection without a reply for so long is closed and made again. More than `pingMs`. */
  silenceMs?: number;
  /** For the jitter of reconnects. */
  chance?: Chance;
  /** For operators: what no caller can act on. */
  warn?: (message: string) => void;
  /** A connection came up or was lost. One call for each change, not for each attempt. */
  onConnectionChange?: (role: Role, up: boolean, error: Error | undefined) => void;
}

const CLOSE_MS = 1_000;
const RECONNECT = { firstMs: 50, maxMs: 500 };

/** 50, 100, 200, 400, 500 ms, and up to 100 ms of jitter. Always a number: for `false` or an Error the client gives up. */
export function reconnectMs(retries: number, chance: Chance): number {
  return backoffMs(retries, RECONNECT) + Math.floor(chance.fraction() * 100);
}

/** They are not connected yet. Once connected, they reconnect for ever. */
export function createRoleClients<Role extends string>(
  roles: readonly Role[],
  options: RoleClientOptions<Role>,
  onError: (error: Error) => void,
): Record<Role, RedisClient> {
  const make = makerOf(options.url)(options);
  const clients = roles.map((role) => {
    const client = make(role);
    watch(client, (up, error) => options.onConnectionChange?.(role, up, error), onError);
    return [role, client];
  });
  return Object.fromEntries(clients) as Record<Role, RedisClient>; // one entry for each role
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

type MakeClient = (role: string) => RedisClient;

function makerOf(url: string): (options: RoleClientOptions<never>) => MakeClient {
  if (isClusterUrl(url)) return clusterClients;
  return isSentinelUrl(url) ? followingClients : reconnectingClients;
}

function clusterClients({ url, chance = systemChance, ...timing }: RoleClientOptions<never>): MakeClient {
  const { seeds, ...login } = readClusterUrl(url);
  const pauseMs = (retries: number): number => reconnectMs(retries, chance);
  const topology = new Topology({
    seeds,
    makeClient: (address) =>
      createPlainClient('topology', serverOf(login, address), { ...timing, reconnectStrategy: pauseMs }),
  });
  return (role) =>
    createClusterClient({
      topology,
      makeClient: (address) =>
        createPlainClient(role, serverOf(login, address), { ...timing, reconnectStrategy: false }),
      pauseMs,
      clock: systemClock,
    });
}

function reconnectingClients({ url, chance = systemChance, ...timing }: RoleClientOptions<never>): MakeClient {
  const reconnectStrategy = (retries: number): number => reconnectMs(retries, chance);
  return (role) => createPlainClient(role, { url }, { ...timing, reconnectStrategy });
}

function followingClients({ url, chance = systemChance, warn, ...timing }: RoleClientOptions<never>): MakeClient {
  const target = readSentinelUrl(url);
  const onAnswer = (answer: boolean, reason: string): void =>
    warn?.(answer ? 'the sentinels of Redis answer again' : `no sentinel of Redis answers: ${reason}`);
  const sentinels = createSentinels({ ...target.sentinels, onAnswer });
  return (role) =>
    createFollowingClient({
      sentinels,
      makeClient: (address) =>
        createPlainClient(role, serverOf({ ...target, tls: target.sentinels.tls }, address), {
          ...timing,
          reconnectStrategy: false,
        }),
      pauseMs: (retries) => reconnectMs(retries, chance),
      clock: systemClock,
    });
}

/** Listens to `error` in any case: without a listener a lost connection ends the process. */
function watch(
  client: RedisClient,
  onConnectionChange: (up: boolean, error: Error | undefined) => void,
  onError: (error: Error) => void,
): void {
  let up = false;
  client.on('ready', () => {
    up = true;
    onConnectionChange(true, undefined);
  });
  client.on('lost', () => onConnectionChange(false, undefined));
  client.on('error', (error) => {
    onError(error);
    if (!up || client.isReady) return;
    up = false;
    onConnectionChange(false, error);
  });
}
