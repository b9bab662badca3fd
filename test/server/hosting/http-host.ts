/** A program with an HTTP server of its own, in which servers are embedded. */
import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpHost extends AsyncDisposable {
  readonly server: HttpServer;
  readonly url: string;
  readonly port: number;
}

/** Listens, and answers `own` unless told otherwise. */
export async function startHttpHost(answer: RequestListener = (_, response) => response.end('own')): Promise<HttpHost> {
  const server = createHttpServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What is on a server, by name: to compare before and after. */
export const listenersOf = (server: HttpServer): Record<string, readonly unknown[]> =>
  Object.fromEntries(server.eventNames().map((name) => [String(name), server.rawListeners(name)]));
