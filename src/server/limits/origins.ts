/**
 * Which pages may connect. Socket.IO's `cors` does not guard WebSocket, so every handshake is looked at here. A client
 * that is no browser sends no Origin, and could send any.
 */
import type { IncomingMessage } from 'node:http';
import type { Log } from '../../support/log.ts';

export type OriginCheck = (request: Pick<IncomingMessage, 'headers'>) => boolean;

export function createOriginCheck(allowedOrigins: readonly string[]): OriginCheck {
  const allowed = new Set(allowedOrigins.map((origin) => (URL.canParse(origin) ? new URL(origin).origin : origin)));
  return ({ headers: { origin, host } }) => {
    if (origin === undefined || allowed.has('*') || allowed.has(origin)) return true;
    const url = URL.canParse(origin) ? new URL(origin) : undefined;
    if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
    // A proxy may write the port into Host that a browser leaves out of Origin.
    const own = `${url.protocol}//${host}`;
    return allowed.has(url.origin) || (URL.canParse(own) && new URL(own).host === url.host) || LOCAL.has(url.hostname);
  };
}

/** For Socket.IO's `allowRequest`. A browser does not show a page why it was refused: whoever runs the server reads it. */
export function createOriginGate(allowedOrigins: readonly string[], log: Log) {
  const isAllowed = createOriginCheck(allowedOrigins);
  const told = new Set<string>();
  return (request: IncomingMessage, decide: (error: string | null, may: boolean) => void): void => {
    if (isAllowed(request)) {
      decide(null, true);
      return;
    }
    const why = `origin ${printable(request.headers.origin)} was refused: allow it with allowedOrigins`;
    // Whoever makes up one origin after the other does not fill the log, nor the memory.
    if (told.size < MAX_LOGGED_ORIGINS && !told.has(why)) {
      told.add(why);
      log.warn(why);
    }
    // Left to itself, Engine.IO calls a forbidden upgrade a bad request.
    if (request.headers.upgrade !== undefined) request.socket.end(forbidden(why));
    decide(why, false);
  };
}

const MAX_LOGGED_ORIGINS = 100;
const ORIGIN_LENGTH = 200;

const printable = (origin = ''): string => origin.slice(0, ORIGIN_LENGTH).replaceAll(/[^!-~]/g, '?');

const forbidden = (why: string): string =>
  [
    'HTTP/1.1 403 Forbidden',
    'Connection: close',
    'Content-Type: text/plain',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${why.length}`,
    '',
    why,
  ].join('\r\n');

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);
