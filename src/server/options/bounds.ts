/** Limits per connection and per address. */
import { integer, milliseconds, type OptionEntry, SECOND } from './entry.ts';

export const BOUNDS = {
  outboundBytes: integer(
    1024 * 1024,
    1024,
    2 ** 30,
    'Limit of unsent bytes per connection; a connection that stays above it is closed.',
  ),
  outboundMessages: integer(
    256,
    1,
    1_000_000,
    'Limit of unsent messages per connection; a connection that stays above it is closed.',
  ),
  frameBytes: integer(
    96 * 1024,
    1024,
    16 * 1024 * 1024,
    'Maximum size of a frame in bytes; a larger one closes the connection.',
  ),
  connectTimeoutMs: milliseconds(
    5 * SECOND,
    'Timeout of the handshake; a connection that has not completed it is closed.',
  ),
  headersTimeoutMs: milliseconds(
    10 * SECOND,
    'Timeout of an HTTP request: for its headers, and for the whole request.',
  ),
  keepAliveTimeoutMs: milliseconds(
    72 * SECOND,
    'How long an idle HTTP connection is kept open. Longer than a load balancer in front keeps its connections (often 60 s).',
  ),
  connectionsPerSecond: integer(
    400,
    1,
    1_000_000,
    'Rate limit of a node: sessions that begin per second, new and resumed ones. The others are told when to come again.',
  ),
  connectionsBurst: integer(800, 1, 1_000_000, 'Rate limit of a node: sessions that begin at once.'),
  eventsPerSecond: integer(
    20,
    1,
    1_000_000,
    'Rate limit of a connection: tokens per second. An ordinary request costs one; docs/security.md has the prices.',
  ),
  eventsBurst: integer(100, 1, 1_000_000, 'Rate limit of a connection: tokens in one burst.'),
  roomBytesPerSecond: integer(
    4 * 1024 * 1024,
    1024,
    2 ** 40,
    'Limit of what the messages and events of a room make a node send, over all members: bytes per second.',
  ),
  strikes: integer(
    10,
    1,
    1_000_000,
    'Requests above the rate limit, within 5 s, after which the connection is closed.',
  ),
  freeMisses: integer(
    5,
    0,
    1_000_000,
    'Wrong room codes that an address may try before it has to wait between attempts.',
  ),
} as const satisfies Record<string, OptionEntry>;
