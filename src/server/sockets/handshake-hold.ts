/** Holds the handshakes of an address back whose connections keep failing: a middleware of Engine.IO. */
import { type IncomingMessage, ServerResponse } from 'node:http';
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
  /** Whether Engine.IO has a session of that id. */
  readonly hasSession: (sid: string) => boolean;
}

export function createHandshakeHold({ throttle, addressOf, warn, hasSession }: HoldOptions) {
  return (request: IncomingMessage, response: object, next: () => void): void => {
    // Engine.IO hands an upgrade on with a response of its own class; whatever the headers say, all others are requests.
    const http = response instanceof ServerResponse ? response : undefined;
    const sid = sidOf(request);
    // Every upgrade, also that of a session which began with polling; but not the polls of a session.
    if (http !== undefined && sid !== '') {
      next();
      return;
    }
    const isPassed = throttle.pass(addressOf(request), {
      isOfSession: sid !== '' && hasSession(sid),
      go: next,
      refuse: () => (http === undefined ? refuseUpgrade(request) : refuseRequest(http)),
    });
    if (isPassed) return;
    warn(WARNING);
    // Node has taken its own listener off the socket of an upgrade.
    if (http === undefined) request.socket.on('error', ignore);
  };
}

/** As Engine.IO reads it, before its middlewares run: an empty one is none. */
function sidOf(request: IncomingMessage): string {
  // Cast: Engine.IO adds the query, which the types of Node do not know.
  return (request as { readonly _query?: Readonly<Record<string, string>> })._query?.['sid'] ?? '';
}

function refuseRequest(response: ServerResponse): void {
  response.writeHead(429, { 'retry-after': RETRY_AFTER_S, connection: 'close' }).end();
}

function refuseUpgrade({ socket }: IncomingMessage): void {
  const lines = ['HTTP/1.1 429 Too Many Requests', 'Connection: close', `Retry-After: ${RETRY_AFTER_S}`];
  socket.end(`${[...lines, 'Content-Length: 0'].join('\r\n')}\r\n\r\n`, () => socket.destroy());
}

/** `close` follows. */
function ignore(): void {}
