/** Options of codes, rooms and timeouts. */
import { z } from 'zod';
import { DEFAULT_CODE_DIGITS, MAX_CODE_DIGITS } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { flag, HOUR, integer, MINUTE, milliseconds, type OptionEntry, optionEntry, SECOND } from './entry.ts';

export const ROOMS = {
  codeDigits: integer(DEFAULT_CODE_DIGITS, DEFAULT_CODE_DIGITS, MAX_CODE_DIGITS, 'Number of digits of a room code.'),
  poolSize: optionEntry(
    'number',
    z.int().optional(),
    'Number of codes in the pool, a multiple of 100. Default: all codes with codeDigits digits.',
  ),
  poolLowWater: optionEntry(
    'number',
    z.number().min(0).max(1).default(0.1),
    'Low-water mark of the pool: share of free codes below which the alarm pool_low is raised.',
  ),
  maxUsers: integer(
    LIMITS.maxUsers.default,
    LIMITS.maxUsers.min,
    LIMITS.maxUsers.max,
    'Maximum number of members of a room, unless its creator sets another.',
  ),
  closeOnHostLeave: flag(
    false,
    'End a room when its host has left. If false, the longest-present member becomes host.',
  ),
  pingIntervalMs: milliseconds(10 * SECOND, 'Interval between pings of the server on a connection.'),
  pingTimeoutMs: milliseconds(5 * SECOND, 'Timeout of the answer to a ping; without one, the connection is closed.'),
  heartbeatIntervalMs: milliseconds(30 * SECOND, 'Interval between heartbeats of a client.'),
  userTtlMs: milliseconds(
    MINUTE,
    'Lease of a user and its seat: how long they are kept without a sign of life from the client.',
    200,
  ),
  graceMs: milliseconds(30 * SECOND, 'Grace period: how long the seat of a lost connection is kept for a reconnect.'),
  roomIdleMs: milliseconds(30 * MINUTE, 'Idle timeout: a room without activity ends after this time.'),
  roomEmptyMs: milliseconds(5 * MINUTE, 'An empty room ends after this time.'),
  roomMaxAgeMs: milliseconds(24 * HOUR, 'Maximum age of a room: every room ends after this time.'),
  codeCooldownMs: milliseconds(
    10 * MINUTE,
    'Cooldown of a code: how long it is not reused after its room has ended.',
    0,
  ),
  tickMs: milliseconds(
    10 * SECOND,
    'Interval of the maintenance tick, in which every node checks every shard once for expired seats and rooms.',
    100,
  ),
  drainMs: milliseconds(30 * SECOND, 'Time limit for draining: how long a shutdown may take.', 100),
  drainReadyMs: milliseconds(
    5 * SECOND,
    'How long /readyz fails after SIGTERM while requests are still served, for load balancers to notice; part of drainMs. 0 without one.',
    0,
  ),
  resumeTtlMs: milliseconds(7 * 24 * HOUR, 'Lifetime of a resume token.'),
} as const satisfies Record<string, OptionEntry>;
