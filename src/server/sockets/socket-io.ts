/** Socket.IO on an HTTP server: its settings, the guards of its transports, and how it is closed. */
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { Server as IoServer } from 'socket.io';
import type { Engine } from '../../engine/engine.ts';
import { type Clock, type Stop, systemClock } from '../../support/clock.ts';
import type { Log } from '../../support/log.ts';
import type { Random } from '../../support/random.ts';
import type { ClientAddress } from '../limits/client-address.ts';
import { frameLimitsOf } from '../limits/frame-budget.ts';
import { HandshakeThrottle } from '../limits/handshake-throttle.ts';
import { createOriginGate } from '../limits/origins.ts';
import { whyAmbiguous } from '../limits/request-head.ts';
import type { EngineConnection } from '../limits/terminate.ts';
import type { Options } from '../options/options.ts';
import type { Io } from '../sessions/socket-types.ts';
import { sweepClosing } from './close-sweep.ts';
import { createWsEngine, type TransportGuard } from './guarded-websocket.ts';
import { createHandshakeErrors } from './handshake-errors.ts';
import { createHandshakeHold } from './handshake-hold.ts';
import { guardedParser } from './packet-parser.ts';
import { guardPolling, type PollingConnection } from './polling-guard.ts';
import { createSeldomWarning } from './seldom-warning.ts';

/** Interval at which a closing server looks whether answers are still under way; the first is for requests that just arrive. */
const LAST_ANSWERS_MS = 100;

interface IoParts {
  readonly options: Options;
  readonly engine: Engine;
  readonly server: HttpServer;
  readonly addressOf: ClientAddress;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Socket.IO, and how handshakes that are held back are ended before it closes. */
interface OpenIo {
  readonly io: Io;
  readonly endHolds: Stop;
}

export function createIo({ options, engine, server, addressOf, clock, random, log }: IoParts): OpenIo {
  const throttle = new HandshakeThrottle(clock, random);
  const guard: TransportGuard = {
    limits: frameLimitsOf(options),
    clock,
    addressOf,
    recordFault: (address, fault) => throttle.recordFault(address, fault),
  };
  const io: Io = new IoServer(server, {
    path: options.socketPath,
    transports: [...options.transports],
    serveClient: false,
    pingInterval: options.pingIntervalMs,
    pingTimeout: options.pingTimeoutMs,
    connectTimeout: options.connectTimeoutMs,
    maxHttpBufferSize: options.frameBytes,
    wsEngine: createWsEngine(guard),
    parser: guardedParser,
    allowRequest: createHandshakeGate(createOriginGate(options.allowedOrigins, log)),
    // The engine does not know Socket.IO's types; its adapter is made by an adapter package for this very option.
    ...(engine.fanout.adapter !== undefined && { adapter: engine.fanout.adapter as never }),
  });
  const warn = createSeldomWarning(log, clock);
  io.engine.use(
    createHandshakeHold({ throttle, addressOf, warn, hasSession: (sid) => Object.hasOwn(sessionsOf(io), sid) }),
  );
  io.engine.on('connection_error', createHandshakeErrors(options.transports, warn));
  if (options.transports.includes('polling')) guardEachPolling(io, guard, addressOf);
  return { io, endHolds: () => throttle.close() };
}

function guardEachPolling(io: Io, guard: TransportGuard, addressOf: ClientAddress): void {
  io.engine.on('connection', (connection: PollingConnection & { readonly request: IncomingMessage }) => {
    if (connection.transport.name === 'polling') guardPolling(connection, guard, addressOf(connection.request));
  });
}

/** @returns a function that stops the sweep: after the close, which it may have to help. */
export function endLateCloses(io: Io, clock: Clock): Stop {
  return sweepClosing(sessionsOf(io), clock);
}

/** By their `sid`. */
function sessionsOf({ engine }: Io): Readonly<Record<string, EngineConnection>> {
  // Cast: protected in the types of Engine.IO, whose documentation has no other list of connections.
  return Reflect.get(engine, 'clients') as Record<string, EngineConnection>;
}

type Gate = ReturnType<typeof createOriginGate>;

/** A handshake passes no Fastify hook, so its head is checked here. */
const createHandshakeGate =
  (next: Gate): Gate =>
  (request, decide) => {
    const reason = whyAmbiguous(request);
    if (reason === undefined) next(request, decide);
    else decide(reason, false);
  };

/** The HTTP answers of a closing server. */
interface LastAnswers {
  readonly count: number;
}

/**
 * Closes the sockets and stops listening, then waits until the answers under way have ended, `limitMs` at most. All other
 * HTTP connections are closed: Socket.IO waits for them, and keep-alive holds them for more than a minute.
 */
export async function closeIo(
  io: Io,
  server: HttpServer,
  answers: LastAnswers,
  limitMs: number,
  clock: Clock = systemClock,
): Promise<void> {
  const latest = clock.monotonic() + limitMs;
  const isOver = () => answers.count === 0 || clock.monotonic() >= latest;
  let end = (): void => {};
  // In an embedding server, there is no listener of ours that would wait for them.
  const answered = new Promise<void>((resolve) => {
    end = resolve;
  });
  if (isOver()) end();
  const stop = clock.every(LAST_ANSWERS_MS, () => {
    if (!isOver()) return;
    server.closeAllConnections();
    end();
  });
  try {
    await Promise.all([io.close(), answered]);
  } finally {
    stop();
  }
}
