/** A receiver that means harm: it answers a request, or a mere connection, with whatever bytes it likes. */
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface HostileReceiver extends AsyncDisposable {
  readonly url: string;
  /** How many connections were made to it. */
  readonly connections: number;
  /** Resolves when it has been sent something, and has done its harm. */
  readonly asked: Promise<void>;
  /** Resolves when none is. */
  closed(): Promise<void>;
}

/** @param harm called when the first bytes of a request have come. */
export async function startHostile(harm: (socket: Socket) => void): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let connections = 0;
  let tellAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    tellAsked = resolve;
  });
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    // It is cut off in the middle of what it does.
    socket.on('error', () => {});
    socket.once('data', () => {
      harm(socket);
      tellAsked();
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

/** Writes again and again for as long as somebody reads. */
export function flood(socket: Socket, chunk: string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', write);
  write();
}
