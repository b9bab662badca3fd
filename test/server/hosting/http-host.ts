/** A program with its own HTTP server, in which a test embeds Signalbox. */
import { once } from 'node:events';
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpHost extends AsyncDisposable {
  readonly server: HttpServer;
  readonly url: string;
  readonly port: number;
}

/** Starts the program. @param answer by default the text `own` */
export async function startHttpHost(answer: RequestListener = (_, response) => response.end('own')): Promise<HttpHost> {
  const server = createHttpServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an address with a port.
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

/** The listeners of a server by event, to compare before and after. */
export const listenersOf = (server: HttpServer): Record<string, readonly unknown[]> =>
  Object.fromEntries(server.eventNames().map((name) => [String(name), server.rawListeners(name)]));
