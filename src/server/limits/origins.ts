/**
 * Origin check of handshakes. Needed because Socket.IO's option `cors` does not apply to WebSocket. Clients other than
 * browsers send no Origin, or any they like, so requests without one are allowed.
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
    // Compared as URLs: a proxy may add the default port to Host, which a browser omits in Origin.
    const own = `${url.protocol}//${host}`;
    return allowed.has(url.origin) || (URL.canParse(own) && new URL(own).host === url.host) || LOCAL.has(url.hostname);
  };
}

/** For Socket.IO's `allowRequest`. The reason is logged, because browsers hide it from the page. */
export function createOriginGate(allowedOrigins: readonly string[], log: Log) {
  const isAllowed = createOriginCheck(allowedOrigins);
  const loggedReasons = new Set<string>();
  return (request: IncomingMessage, decide: (error: string | null, may: boolean) => void): void => {
    if (isAllowed(request)) {
      decide(null, true);
      return;
    }
    const reason = `origin ${printable(request.headers.origin)} was refused: allow it with allowedOrigins`;
    // Bounded: invented origins must not fill the log or the memory.
    if (loggedReasons.size < MAX_LOGGED_ORIGINS && !loggedReasons.has(reason)) {
      loggedReasons.add(reason);
      log.warn(reason);
    }
    // Engine.IO by itself would answer a refused upgrade with 400 instead of 403.
    if (request.headers.upgrade !== undefined) request.socket.end(forbidden(reason));
    decide(reason, false);
  };
}

const MAX_LOGGED_ORIGINS = 100;
const MAX_ORIGIN_LENGTH = 200;

const printable = (origin = ''): string => origin.slice(0, MAX_ORIGIN_LENGTH).replaceAll(/[^!-~]/g, '?');

const forbidden = (reason: string): string =>
  [
    'HTTP/1.1 403 Forbidden',
    'Connection: close',
    'Content-Type: text/plain',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${reason.length}`,
    '',
    reason,
  ].join('\r\n');

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);
