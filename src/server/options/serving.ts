/** Where a server answers, and to whom. */
import { z } from 'zod';
import { flag, integer, list, type OptionEntry, optionalText, optionEntry, text } from './entry.ts';

export const DEFAULT_SOCKET_PATH = '/socket.io/';

export const SERVING = {
  host: text('0.0.0.0', 'Address to listen on.', { env: 'HOST' }),
  port: integer(3000, 0, 65_535, 'Port to listen on; 0 takes a free one.', { env: 'PORT' }),
  nodeId: optionEntry(
    'text',
    z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/)
      .optional(),
    'Name of this node; drawn by chance unless given. No two nodes may share one.',
  ),
  secret: optionalText(
    'Signs resume tokens; the same on every node; 16 characters or more. Without it, the nodes share one through the store.',
    { secret: true },
    16,
  ),
  allowedOrigins: list(
    [],
    'Origins whose pages may connect, such as https://example.org; * for all. Same host and localhost always may.',
  ),
  trustedProxies: list([], 'Addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For is believed.'),
  transports: optionEntry(
    'list',
    z
      .array(z.enum(['websocket', 'polling']))
      .min(1)
      .default(['websocket']),
    'Transports clients may use; polling needs sticky sessions over several nodes.',
  ),
  socketPath: optionEntry(
    'text',
    z
      .string()
      .regex(/^(\/[A-Za-z0-9._~-]+)+\/?$/, 'must be such as /socket.io/')
      .transform((path) => (path.endsWith('/') ? path : `${path}/`))
      .default(DEFAULT_SOCKET_PATH),
    'Path of Socket.IO; clients are told another one by their option `path`. The demo page knows the default only.',
  ),
  demo: flag(true, 'Serve the demo page at /.'),
  sdk: flag(true, 'Serve the SDK for browsers at /signalbox.js.'),
} as const satisfies Record<string, OptionEntry>;
