/** Clients of node-redis, with the settings that each of our connections needs. */
import { createClient } from 'redis';
import type { PlainClient } from './client.ts';
import type { ServerAddress } from './hosts-url.ts';
import { createSentinels } from './sentinel/sentinels.ts';
import { isSentinelUrl, readSentinelUrl, type SentinelTarget } from './sentinel/url.ts';

export interface ConnectionSettings {
  readonly pingMs?: number;
  readonly silenceMs?: number;
  /** The pause before it connects again; false for a client that serves for one connection. */
  readonly reconnectStrategy: false | ((retries: number) => number);
}

/** One server, by its URL or by an address. */
type Server = Pick<
  NonNullable<Parameters<typeof createClient>[0]>,
  'url' | 'username' | 'password' | 'database' | 'socket'
>;

export function createPlainClient(role: string, server: Server, settings: ConnectionSettings): PlainClient {
  const { pingMs = 5_000, silenceMs = 15_000, reconnectStrategy } = settings;
  return createClient({
    ...server,
    name: `signalbox-${role}`,
    // node-redis' own time-out bounds only unwritten commands, and costs an AbortSignal for each: see withDeadline.
    commandOptions: { timeout: 0 },
    // An offline queue would send stale writes and messages after an outage. Subscriptions do not go stale.
    disableOfflineQueue: role !== 'sub',
    maintNotifications: 'disabled',
    disableClientInfo: true,
    // With a PING every few seconds, a healthy connection is never silent (a subscriber's neither), so silence means that
    // the peer is gone. The kernel notices a link that drops packets only after 15 minutes.
    pingInterval: pingMs,
    socket: { ...server.socket, reconnectStrategy, socketTimeout: silenceMs, connectTimeout: 5_000 },
  }) as PlainClient; // the option literals narrow type parameters that no caller needs
}

/** With what all servers of one URL are connected to. */
interface Login {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database?: number;
  readonly tls: boolean;
}

export function serverOf({ tls, username, password, database = 0 }: Login, { host, port }: ServerAddress): Server {
  const login = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
  return { ...login, database, socket: tls ? { host, port, tls: true } : { host, port } };
}

/**
 * One connection for a piece of work that fails when it is lost: to the server of the URL, or to the primary of now.
 *
 * @throws Error when it cannot be connected.
 */
export async function connectPlainClient(role: string, url: string): Promise<PlainClient> {
  const server = isSentinelUrl(url) ? await primaryOf(readSentinelUrl(url)) : { url };
  const client = createPlainClient(role, server, { reconnectStrategy: false });
  client.on('error', () => {}); // the command under way fails with it
  await client.connect();
  return client;
}

async function primaryOf(target: SentinelTarget): Promise<Server> {
  const sentinels = createSentinels(target.sentinels);
  const stop = sentinels.watch(() => {});
  try {
    const [address] = await sentinels.candidates();
    return serverOf({ ...target, tls: target.sentinels.tls }, address);
  } finally {
    stop();
  }
}
