/** Options of listening, access and served pages. */
import { z } from 'zod';
import { NODE_ID_PATTERN } from '../../protocol/ids.ts';
import { readListenHost, readNetwork } from '../../support/ip-address.ts';
import { HTTP_ADDRESS } from '../../support/own-addresses.ts';
import { flag, integer, listBy, type OptionEntry, optionalText, optionEntry, readBy } from './entry.ts';
import { readAllowedOrigin } from './origin.ts';

export const DEFAULT_SOCKET_PATH = '/socket.io/';

export const SERVING = {
  host: optionEntry(
    'text',
    readBy(readListenHost).default('::'),
    'Address to listen on. :: is every address of the machine, of IPv6 and of IPv4; 0.0.0.0 is every address of IPv4.',
    { env: 'HOST' },
  ),
  port: integer(3000, 0, 65_535, 'Port to listen on; 0 selects a free port.', { env: 'PORT' }),
  nodeId: optionEntry(
    'text',
    z.string().regex(NODE_ID_PATTERN).optional(),
    'Name of this node, unique among all nodes: a second node of that name does not start. Clients are told it, so no host name that is to stay private. Default: random.',
  ),
  nodeUrl: optionEntry(
    'text',
    z.string().regex(HTTP_ADDRESS, 'must be http://host:port').optional(),
    'Address at which other nodes reach the port of this one, such as http://10.0.0.5:3000, where it is not one of its network interfaces: behind NAT, or in a container on a bridge. A node that has lost Redis asks the others at it whether they have. Default: the addresses of the interfaces.',
  ),
  secret: optionalText(
    'Secret that signs resume tokens, at least 16 characters, the same on every node. Default: random, shared by all nodes through Redis.',
    { secret: true },
    16,
  ),
  allowedOrigins: listBy(
    readAllowedOrigin,
    'Origins of pages that may connect, such as https://example.org or capacitor://localhost; * for all. The own host and localhost are always allowed.',
  ),
  trustedProxies: listBy(
    readNetwork,
    'Addresses or networks (10.0.0.0/8) of reverse proxies whose X-Forwarded-For is trusted.',
  ),
  transports: optionEntry(
    'list',
    z
      .array(z.enum(['websocket', 'polling']))
      .min(1)
      .default(['websocket']),
    'Transports that clients may use: websocket, polling. Polling over several nodes needs sticky sessions.',
  ),
  socketPath: optionEntry(
    'text',
    z
      .string()
      .regex(/^(\/[A-Za-z0-9._~-]+)+\/?$/, 'must be a path such as /socket.io/')
      .transform((path) => (path.endsWith('/') ? path : `${path}/`))
      .default(DEFAULT_SOCKET_PATH),
    'Path of Socket.IO; clients need the same value in their option `path`. The demo page works with the default only.',
  ),
  demo: flag(true, 'Serve the demo page at /.'),
  sdk: flag(true, 'Serve the SDK for browsers at /signalbox.js.'),
} as const satisfies Record<string, OptionEntry>;
