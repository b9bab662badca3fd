/** What operators are told about handshakes that Engine.IO refuses: clients see a 400, which browsers hide from the page. */
import type { Options } from '../options/options.ts';
import type { SeldomWarning } from './seldom-warning.ts';

/** `Server.errors` of Engine.IO, which does not export it by name. */
const ERROR = { unknownTransport: 0, unknownSession: 1, badRequest: 3, unsupportedProtocol: 5 } as const;

interface HandshakeError {
  readonly code: number;
  readonly context?: { readonly name?: unknown; readonly transport?: unknown; readonly error?: unknown };
}

export function createHandshakeErrors(transports: Options['transports'], warn: SeldomWarning) {
  return ({ code, context = {} }: HandshakeError): void => {
    if (code === ERROR.unknownTransport && isTransport(context.transport)) warn(transportOff(context.transport), ONCE);
    if (code === ERROR.unknownSession && transports.includes('polling')) warn(WRONG_NODE);
    if (code === ERROR.unsupportedProtocol) warn(OLD_CLIENT, ONCE);
    // With an error it is another failure of the same name.
    if (code === ERROR.badRequest && context.name === 'TRANSPORT_HANDSHAKE_ERROR' && context.error === undefined)
      warn(NO_UPGRADE);
  };
}

const ONCE = Number.POSITIVE_INFINITY;

const isTransport = (name: unknown): name is 'polling' | 'websocket' => name === 'polling' || name === 'websocket';
const transportOff = (name: string): string =>
  `a client tried the transport ${name}, which is off: allow it with transports, or have the client use another`;

const WRONG_NODE =
  'a request named a session that this node does not have: polling over several nodes needs sticky sessions';
const OLD_CLIENT = 'a client of Socket.IO 2 was refused: it needs version 3 or newer';
const NO_UPGRADE =
  'a WebSocket handshake came without an upgrade: a proxy in front has to pass the headers Upgrade and Connection on';
