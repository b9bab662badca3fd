/** What one client may take. */
import { type Entry, milliseconds, SECOND, whole } from './entry.ts';

export const BOUNDS = {
  outboundBytes: whole(
    1024 * 1024,
    1024,
    2 ** 30,
    'What may wait for a client that does not read; then its connection is closed.',
  ),
  outboundMessages: whole(256, 1, 1_000_000, 'The same, counted in messages.'),
  frameBytes: whole(96 * 1024, 1024, 16 * 1024 * 1024, 'Largest frame; a larger one ends its connection.'),
  connectTimeoutMs: milliseconds(5 * SECOND, 'A connection that does not complete its handshake is closed after this.'),
  headersTimeoutMs: milliseconds(10 * SECOND, 'An HTTP request whose headers do not arrive in this time is closed.'),
  eventsPerSecond: whole(20, 1, 1_000_000, 'Requests per second that a connection may go on making.'),
  eventsBurst: whole(100, 1, 1_000_000, 'Requests that it may make at once.'),
  strikes: whole(10, 1, 1_000_000, 'Requests over that budget after which the connection is closed.'),
  freeMisses: whole(5, 0, 1_000_000, 'Wrong codes that an address may try before it has to wait.'),
} as const satisfies Record<string, Entry>;
