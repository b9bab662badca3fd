/** Socket.IO on an HTTP server: how it is set up, and taken down again. */
import type { Server as HttpServer } from 'node:http';
import { Server as IoServer } from 'socket.io';
import type { Engine } from '../../engine/engine.ts';
import type { Log } from '../../support/log.ts';
import { createOriginGate } from '../limits/origins.ts';
import type { Options } from '../options/options.ts';
import type { Io } from '../sessions/session.ts';
import { guardedParser } from './packet-parser.ts';

/** For answers that are being written when the server closes. */
const HTTP_FAREWELL_MS = 100;

export function createIo(options: Options, engine: Engine, server: HttpServer, log: Log): Io {
  return new IoServer(server, {
    path: options.socketPath,
    transports: [...options.transports],
    serveClient: false,
    pingInterval: options.pingIntervalMs,
    pingTimeout: options.pingTimeoutMs,
    connectTimeout: options.connectTimeoutMs,
    maxHttpBufferSize: options.frameBytes,
    parser: guardedParser,
    allowRequest: createOriginGate(options.allowedOrigins, log),
    // The engine does not know Socket.IO's types; what it gives is made by an adapter package for this very option.
    ...(engine.fanout.adapter !== undefined && { adapter: engine.fanout.adapter as never }),
  });
}

/** Socket.IO waits for every HTTP connection to end, and one that is kept alive by its client takes over a minute. */
export async function closeIo(io: Io, server: HttpServer): Promise<void> {
  const cutting = setInterval(() => server.closeAllConnections(), HTTP_FAREWELL_MS);
  try {
    await io.close();
  } finally {
    clearInterval(cutting);
  }
}
