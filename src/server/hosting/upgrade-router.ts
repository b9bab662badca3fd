/** Routes the upgrade requests of an HTTP server by path, so that several embedded servers and other listeners can share it. */
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Stop } from '../../support/clock.ts';
import { OptionError } from '../options/options.ts';

type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

interface UpgradeRouter {
  /** By path. */
  readonly handlers: Map<string, UpgradeHandler>;
  close(): void;
}

/**
 * One router per HTTP server, collected together with it. Shared by all servers embedded in it, because only the router
 * of all of them can tell that an upgrade has no handler.
 */
const routers = new WeakMap<HttpServer | HttpsServer, UpgradeRouter>();

/**
 * @param path ends with a slash.
 * @throws OptionError when another embedded server uses that path there.
 * @returns a function that removes the handler, and with the last handler the listener on the server.
 */
export function addUpgradeHandler(server: HttpServer | HttpsServer, path: string, handler: UpgradeHandler): Stop {
  const router = routers.get(server) ?? createRouter(server);
  if (router.handlers.has(path))
    throw new OptionError('socketPath', `${path} is taken by another Signalbox in this server`);
  router.handlers.set(path, handler);
  return () => {
    if (router.handlers.get(path) !== handler) return;
    router.handlers.delete(path);
    if (router.handlers.size === 0) router.close();
  };
}

/** Moves the listener of Socket.IO on our own server into the router: it would close all upgrades of other paths. */
export function routeOwnUpgrades(server: HttpServer, path: string): void {
  for (const listener of server.listeners('upgrade')) {
    // Cast: the type of listeners is lost in `listeners`.
    const handler = listener as UpgradeHandler;
    server.off('upgrade', handler);
    addUpgradeHandler(server, path, handler);
  }
}

function createRouter(server: HttpServer | HttpsServer): UpgradeRouter {
  const handlers = new Map<string, UpgradeHandler>();
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const handler = handlers.get(pathOf(request));
    if (handler !== undefined) handler(request, socket, head);
    // With other listeners on the server, the upgrade is for one of them.
    else if (server.listenerCount('upgrade') === 1) handleWithoutUpgrade(server, request, socket, head);
  };
  const router = {
    handlers,
    close() {
      server.off('upgrade', onUpgrade);
      routers.delete(server);
    },
  };
  server.on('upgrade', onUpgrade);
  routers.set(server, router);
  return router;
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

const UPGRADE_HEADERS: ReadonlySet<unknown> = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Handles an upgrade without a handler as a plain request, as Node does when nothing listens for upgrades: Java's HTTP
 * client, for example, offers HTTP/2 with its first request. Node has stopped parsing after the head, so the head is put
 * back without the upgrade headers, and the connection is emitted again. It closes after the response.
 */
function handleWithoutUpgrade(
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
