/** Socket.IO on an HTTP server: its settings, and how it is closed. */
import type { Server as HttpServer } from 'node:http';
import { Server as IoServer } from 'socket.io';
import type { Engine } from '../../engine/engine.ts';
import { type Clock, systemClock } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';
import { createOriginGate } from '../limits/origins.ts';
import type { Options } from '../options/options.ts';
import type { Io } from '../sessions/socket-types.ts';
import { guardedParser } from './packet-parser.ts';

/** Time for responses under way when the server closes. */
const LAST_RESPONSE_MS = 100;

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
    // The engine does not know Socket.IO's types; its adapter is made by an adapter package for this very option.
    ...(engine.fanout.adapter !== undefined && { adapter: engine.fanout.adapter as never }),
  });
}

/** Closes idle HTTP connections too: Socket.IO waits for them, and keep-alive holds them for more than a minute. */
export async function closeIo(io: Io, server: HttpServer, clock: Clock = systemClock): Promise<void> {
  const stop = clock.every(LAST_RESPONSE_MS, () => server.closeAllConnections());
  try {
    await io.close();
  } finally {
    stop();
  }
}
