/** What one client may take. */
import { integer, milliseconds, type OptionEntry, SECOND } from './entry.ts';

export const BOUNDS = {
  outboundBytes: integer(
    1024 * 1024,
    1024,
    2 ** 30,
    'What may wait for a client that does not read; then its connection is closed.',
  ),
  outboundMessages: integer(256, 1, 1_000_000, 'The same, counted in messages.'),
  frameBytes: integer(96 * 1024, 1024, 16 * 1024 * 1024, 'Largest frame; a larger one ends its connection.'),
  connectTimeoutMs: milliseconds(5 * SECOND, 'A connection that does not complete its handshake is closed after this.'),
  headersTimeoutMs: milliseconds(10 * SECOND, 'An HTTP request whose headers do not arrive in this time is closed.'),
  eventsPerSecond: integer(20, 1, 1_000_000, 'Requests per second that a connection may go on making.'),
  eventsBurst: integer(100, 1, 1_000_000, 'Requests that it may make at once.'),
  strikes: integer(10, 1, 1_000_000, 'Requests over that budget after which the connection is closed.'),
  freeMisses: integer(5, 0, 1_000_000, 'Wrong codes that an address may try before it has to wait.'),
} as const satisfies Record<string, OptionEntry>;
