/** The upgrades of an HTTP server: whoever is on it takes those of its path, and no others are lost. */
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Stop } from '../../support/clock.ts';
import { OptionError } from '../options/options.ts';

type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

interface UpgradeRouter {
  /** By the paths that they take. */
  readonly handlers: Map<string, UpgradeHandler>;
  close(): void;
}

/**
 * By the server that they belong to, with which they are forgotten: those embedded in one must know of each other, or
 * none could say that an upgrade is nobody's.
 */
const routers = new WeakMap<HttpServer | HttpsServer, UpgradeRouter>();

/**
 * @param path ends with a slash.
 * @throws OptionError when another embedded server has that path there.
 * @returns a function that gives the path back; with the last one, nothing is left on the server.
 */
export function addUpgradeHandler(server: HttpServer | HttpsServer, path: string, take: UpgradeHandler): Stop {
  const board = routers.get(server) ?? createRouter(server);
  if (board.handlers.has(path))
    throw new OptionError('socketPath', `${path} is taken by another Signalbox in this server`);
  board.handlers.set(path, take);
  return () => {
    if (board.handlers.get(path) !== take) return;
    board.handlers.delete(path);
    if (board.handlers.size === 0) board.close();
  };
}

/** The same on a server of our own, where Socket.IO listens already, and would end whatever upgrade is not its own. */
export function routeOwnUpgrades(server: HttpServer, path: string): void {
  for (const listener of server.listeners('upgrade')) {
    // Node calls them with these.
    const take = listener as UpgradeHandler;
    server.off('upgrade', take);
    addUpgradeHandler(server, path, take);
  }
}

function createRouter(server: HttpServer | HttpsServer): UpgradeRouter {
  const handlers = new Map<string, UpgradeHandler>();
  const hear = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const take = handlers.get(pathOf(request));
    if (take !== undefined) take(request, socket, head);
    // Else it is for whoever else listens.
    else if (server.listenerCount('upgrade') === 1) answerWithoutUpgrade(server, request, socket, head);
  };
  const board = {
    handlers,
    close() {
      server.off('upgrade', hear);
      routers.delete(server);
    },
  };
  server.on('upgrade', hear);
  routers.set(server, board);
  return board;
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

const UPGRADE_HEADERS: ReadonlySet<unknown> = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Nobody here changes protocols for it, so it is a request like any other: as it was before somebody listened for
 * upgrades. Java's client, for one, offers HTTP/2 with the first of its requests. Node has stopped reading behind the
 * head: the connection begins once more, with that head less the offer, and ends with the answer.
 */
function answerWithoutUpgrade(
  server: HttpServer | HttpsServer,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`, 'Connection: close'];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (!UPGRADE_HEADERS.has(rawHeaders[at]?.toLowerCase())) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit(server instanceof HttpsServer ? 'secureConnection' : 'connection', socket);
}
