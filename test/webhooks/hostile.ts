/** A malicious receiver: it responds to a request with any bytes, or with none. */
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface HostileReceiver extends AsyncDisposable {
  readonly url: string;
  /** Connections that were made to it. */
  readonly connections: number;
  /** Resolves when it has received bytes and called `attack`. */
  readonly asked: Promise<void>;
  /** Resolves when it has no open connections. */
  closed(): Promise<void>;
}

/** @param attack called when the first bytes of a request have arrived. */
export async function startHostile(attack: (socket: Socket) => void): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let connections = 0;
  let onAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    // The other side resets connections during an attack.
    socket.on('error', () => {});
    socket.once('data', () => {
      attack(socket);
      onAsked();
    });
    socket.resume();
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) for (const resolve of waiting) resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}/`,
    get connections() {
      return connections;
    },
    asked,
    closed: () => (sockets.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes for as long as the other side reads. */
export function flood(socket: Socket, chunk: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
}
