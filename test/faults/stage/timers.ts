/** The times of a run: shorter than in production, in about the same proportions. */
import type { PartialOptions } from '../../../src/server/options/options.ts';
import type { Limits } from '../checker/run.ts';

/** A run of a minute. */
export const SHORT_TIMERS = {
  pingIntervalMs: 2_000,
  pingTimeoutMs: 3_000,
  heartbeatIntervalMs: 3_000,
  userTtlMs: 9_000,
  graceMs: 5_000,
  roomEmptyMs: 3_000,
  codeCooldownMs: 4_000,
  tickMs: 1_000,
  drainMs: 8_000,
  drainReadyMs: 500,
} as const satisfies PartialOptions;

/** A run of many minutes: a quarter of the defaults. */
export const LONG_TIMERS = {
  pingIntervalMs: 2_500,
  pingTimeoutMs: 4_000,
  heartbeatIntervalMs: 7_500,
  userTtlMs: 15_000,
  graceMs: 7_500,
  roomEmptyMs: 15_000,
  codeCooldownMs: 30_000,
  tickMs: 2_500,
  drainMs: 10_000,
  drainReadyMs: 1_000,
} as const satisfies PartialOptions;

export type Timers = { readonly [Name in keyof typeof SHORT_TIMERS]: number };

/** Each process is late now and then, where eight of them share two cores. */
const SLACK_MS = 5_000;

export const limitsOf = ({ userTtlMs, tickMs, roomEmptyMs, graceMs, codeCooldownMs }: Timers): Limits => ({
  graceMs,
  emptyWithinMs: userTtlMs + roomEmptyMs + 2 * tickMs + SLACK_MS,
  freeWithinMs: codeCooldownMs + 2 * tickMs + SLACK_MS,
});
