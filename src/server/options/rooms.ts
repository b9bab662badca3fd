/** Codes and rooms, and how long things last. */
import { z } from 'zod';
import { DEFAULT_CODE_DIGITS, MAX_CODE_DIGITS } from '../../protocol/ids.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { flag, HOUR, integer, MINUTE, milliseconds, type OptionEntry, optionEntry, SECOND } from './entry.ts';

export const ROOMS = {
  codeDigits: integer(DEFAULT_CODE_DIGITS, DEFAULT_CODE_DIGITS, MAX_CODE_DIGITS, 'Digits of a room code.'),
  poolSize: optionEntry(
    'number',
    z.int().optional(),
    'How many codes there are: a multiple of 100; all of that length unless given.',
  ),
  poolLowWater: optionEntry(
    'number',
    z.number().min(0).max(1).default(0.1),
    'Share of free codes below which the pool is reported low.',
  ),
  maxUsers: integer(
    LIMITS.maxUsers.default,
    LIMITS.maxUsers.min,
    LIMITS.maxUsers.max,
    'Members of a room, unless its creator says otherwise.',
  ),
  closeOnHostLeave: flag(
    false,
    'A room ends when its host is gone; otherwise the longest-present member becomes host.',
  ),
  pingIntervalMs: milliseconds(10 * SECOND, 'How often the server pings a connection.'),
  pingTimeoutMs: milliseconds(5 * SECOND, 'How long it waits for the answer.'),
  heartbeatIntervalMs: milliseconds(30 * SECOND, 'How often a client sends its heartbeat.'),
  userTtlMs: milliseconds(MINUTE, 'How long a user and its seat are kept without a sign of life.', 200),
  graceMs: milliseconds(30 * SECOND, 'How long the seat of a lost connection is kept.'),
  roomIdleMs: milliseconds(30 * MINUTE, 'A room in which nobody asks for anything ends after this.'),
  roomEmptyMs: milliseconds(5 * MINUTE, 'An empty room ends after this.'),
  roomMaxAgeMs: milliseconds(24 * HOUR, 'Every room ends after this.'),
  codeCooldownMs: milliseconds(10 * MINUTE, 'How long a released code is not handed out.', 0),
  tickMs: milliseconds(10 * SECOND, 'In this time, every node looks after every shard once.', 100),
  drainMs: milliseconds(30 * SECOND, 'How long a shutdown may take.', 100),
  resumeTtlMs: milliseconds(7 * 24 * HOUR, 'How long a resume token is good.'),
} as const satisfies Record<string, OptionEntry>;
