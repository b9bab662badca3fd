/** The upgrades of an HTTP server: whoever is on it takes those of its path, and no others are lost. */
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Stop } from '../../support/clock.ts';
import { OptionError } from '../options/options.ts';

type Take = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

interface Board {
  /** By the paths that they take. */
  readonly takers: Map<string, Take>;
  close(): void;
}

/**
 * By the server that they belong to, with which they are forgotten: those embedded in one must know of each other, or
 * none could say that an upgrade is nobody's.
 */
const boards = new WeakMap<HttpServer | HttpsServer, Board>();

/**
 * @param path ends with a slash.
 * @throws OptionError when another embedded server has that path there.
 * @returns a function that gives the path back; with the last one, nothing is left on the server.
 */
export function takeUpgrades(server: HttpServer | HttpsServer, path: string, take: Take): Stop {
  const board = boards.get(server) ?? openBoard(server);
  if (board.takers.has(path))
    throw new OptionError('socketPath', `${path} is taken by another Signalbox in this server`);
  board.takers.set(path, take);
  return () => {
    if (board.takers.get(path) !== take) return;
    board.takers.delete(path);
    if (board.takers.size === 0) board.close();
  };
}

/** The same on a server of our own, where Socket.IO listens already, and would end whatever upgrade is not its own. */
export function sortUpgrades(server: HttpServer, path: string): void {
  for (const listener of server.listeners('upgrade')) {
    // Node calls them with these.
    const take = listener as Take;
    server.off('upgrade', take);
    takeUpgrades(server, path, take);
  }
}

function openBoard(server: HttpServer | HttpsServer): Board {
  const takers = new Map<string, Take>();
  const hear = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const take = takers.get(pathOf(request));
    if (take !== undefined) take(request, socket, head);
    // Else it is for whoever else listens.
    else if (server.listenerCount('upgrade') === 1) answerAsUsual(server, request, socket, head);
  };
  const board = {
    takers,
    close() {
      server.off('upgrade', hear);
      boards.delete(server);
    },
  };
  server.on('upgrade', hear);
  boards.set(server, board);
  return board;
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

const OFFER: ReadonlySet<unknown> = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Nobody here changes protocols for it, so it is a request like any other: as it was before somebody listened for
 * upgrades. Java's client, for one, offers HTTP/2 with the first of its requests. Node has stopped reading behind the
 * head: the connection begins once more, with that head less the offer, and ends with the answer.
 */
function answerAsUsual(
  server: HttpServer | HttpsServer,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`, 'Connection: close'];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (!OFFER.has(rawHeaders[at]?.toLowerCase())) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit(server instanceof HttpsServer ? 'secureConnection' : 'connection', socket);
}
