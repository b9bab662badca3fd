/** Holds the handshakes of an address back whose connections keep failing: a middleware of Engine.IO. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientAddress } from '../limits/client-address.ts';
import type { HandshakeThrottle } from '../limits/handshake-throttle.ts';
import type { SeldomWarning } from './seldom-warning.ts';

const WARNING =
  'handshakes are held back: connections of their address keep flooding, breaking the protocol or ending early';
const RETRY_AFTER_S = '1';

interface HoldOptions {
  readonly throttle: HandshakeThrottle;
  readonly addressOf: ClientAddress;
  readonly warn: SeldomWarning;
}

export function createHandshakeHold({ throttle, addressOf, warn }: HoldOptions) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    if (!isHandshake(request)) {
      next();
      return;
    }
    let isHeld = true;
    const isPassed = throttle.pass(addressOf(request), () => {
      isHeld = false;
      next();
    });
    if (!isHeld) return;
    warn(WARNING);
    if (!isPassed) refuse(request, response);
    // Node has taken its own listener off the socket of an upgrade.
    else if (isUpgrade(request)) request.socket.on('error', ignore);
  };
}

const isUpgrade = ({ headers }: IncomingMessage): boolean => headers.upgrade !== undefined;

/** Every upgrade, also that of a session which began with polling; but not the polls of a session. */
const isHandshake = (request: IncomingMessage): boolean => isUpgrade(request) || !/[?&]sid=/.test(request.url ?? '');

function refuse(request: IncomingMessage, response: ServerResponse): void {
  if (!isUpgrade(request)) {
    response.writeHead(429, { 'retry-after': RETRY_AFTER_S, connection: 'close' }).end();
    return;
  }
  const lines = ['HTTP/1.1 429 Too Many Requests', 'Connection: close', `Retry-After: ${RETRY_AFTER_S}`];
  request.socket.on('error', ignore);
  request.socket.end(`${[...lines, 'Content-Length: 0'].join('\r\n')}\r\n\r\n`, () => request.socket.destroy());
}

/** `close` follows. */
function ignore(): void {}
