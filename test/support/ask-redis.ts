/** Asks a Redis of the tests. */
import { createClient } from 'redis';

export interface AskedServer {
  readonly port: number;
  readonly password?: string | undefined;
}

/** One command over a connection of its own, which is not made again. RESP2: sentinels know no other. */
export async function askRedis({ port, password }: AskedServer, ...args: string[]): Promise<unknown> {
  const client = createClient({
    RESP: 2,
    socket: { host: '127.0.0.1', port, reconnectStrategy: false, connectTimeout: 1_000, socketTimeout: 2_000 },
    ...(password !== undefined && { password }),
    disableClientInfo: true,
    maintNotifications: 'disabled',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.sendCommand(args);
  } finally {
    client.destroy();
  }
}
