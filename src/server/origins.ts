/**
 * Which pages may connect. Socket.IO's `cors` does not guard WebSocket, so every handshake is looked at here. A client
 * that is no browser sends no Origin, and could send any.
 */
import type { IncomingMessage } from 'node:http';

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

/** For Socket.IO's `allowRequest`. */
export function createOriginGate(allowedOrigins: readonly string[]) {
  const isAllowed = createOriginCheck(allowedOrigins);
  return (request: IncomingMessage, decide: (error: null, may: boolean) => void): void => {
    const may = isAllowed(request);
    // Left to itself, Engine.IO calls a forbidden upgrade a bad request.
    if (!may && request.headers.upgrade !== undefined) request.socket.end(FORBIDDEN);
    decide(null, may);
  };
}

const FORBIDDEN = 'HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

const LOCAL = new Set(['localhost', '127.0.0.1', '[::1]']);
