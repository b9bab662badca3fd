/**
 * Origin check of handshakes. Needed because Socket.IO's option `cors` does not apply to WebSocket. Clients other than
 * browsers send no Origin, or any they like, so requests without one are allowed.
 */
import type { IncomingMessage } from 'node:http';
import type { Log } from '../../support/log.ts';
import { readOrigin } from '../options/origin.ts';

export type OriginCheck = (request: Pick<IncomingMessage, 'headers'>) => boolean;

/** @param allowedOrigins in the form in which the options have them */
export function createOriginCheck(allowedOrigins: readonly string[]): OriginCheck {
  const allowed = new Set(allowedOrigins);
  return ({ headers: { origin, host = '' } }) => {
    if (origin === undefined || allowed.has('*')) return true;
    const page = readOrigin(origin);
    if (page === undefined) return false;
    return allowed.has(page) || isLocal(page) || isOwn(page, host);
  };
}

/** Compared as origins: a proxy may add the default port to Host, which a browser omits in Origin. */
const isOwn = (page: string, host: string): boolean =>
  /^https?:/.test(page) && page === readOrigin(`${page.slice(0, page.indexOf(':'))}://${host}`);

const isLocal = (page: string): boolean => /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(page);

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
