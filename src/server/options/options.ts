/** Reads options, and derives the policy of rooms and the pool of codes from them. */
import { allCodes, createPool, type Pool } from '../../room/pool.ts';
import type { Policy } from '../../room/room.ts';
import { checkTogether } from './checks.ts';
import { MINUTE } from './entry.ts';
import { OptionError } from './option-error.ts';
import { textProblem } from './plain-text.ts';
import { OPTIONS, type Options, type PartialOptions } from './table.ts';

export type { OptionEntry, OptionKind } from './entry.ts';
export { OptionError } from './option-error.ts';
export { DEFAULT_SOCKET_PATH } from './serving.ts';
export { OPTIONS, type OptionName, type Options, type PartialOptions } from './table.ts';

/**
 * Checks options and fills in the defaults.
 *
 * @throws OptionError that names the first option that is unknown, malformed, or in conflict with another.
 */
export function readOptions(given: PartialOptions): Options {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(OPTIONS, name)) throw new OptionError(name, 'no such option');
  const read = Object.entries(OPTIONS).map(([name, entry]) => {
    const value: unknown = Reflect.get(given, name);
    checkTexts(name, value, 'secret' in entry);
    const checked = entry.schema.safeParse(value);
    if (!checked.success) throw new OptionError(name, checked.error.issues[0]?.message ?? 'malformed');
    return [name, checked.data];
  });
  // Each value has been parsed by the schema that its type is inferred from.
  const options = deriveIntervals(Object.fromEntries(read) as Options, given);
  checkTogether(options);
  return options;
}

function checkTexts(name: string, given: unknown, isSecret: boolean): void {
  for (const [index, text] of (Array.isArray(given) ? given : [given]).entries()) {
    const problem = typeof text === 'string' ? textProblem(text, isSecret) : undefined;
    if (problem !== undefined)
      throw new OptionError(name, Array.isArray(given) ? `entry ${index + 1} ${problem}` : problem);
  }
}

/** Shortens defaults that belong to a longer one: heartbeat and tick to match userTtlMs, drainReadyMs to match drainMs. */
function deriveIntervals(options: Options, given: PartialOptions): Options {
  const { userTtlMs, heartbeatIntervalMs, tickMs, drainMs, drainReadyMs } = options;
  return {
    ...options,
    heartbeatIntervalMs: given.heartbeatIntervalMs ?? Math.min(heartbeatIntervalMs, Math.ceil(userTtlMs / 2)),
    drainReadyMs: given.drainReadyMs ?? Math.min(drainReadyMs, Math.floor(drainMs / 2)),
    tickMs: given.tickMs ?? Math.max(100, Math.min(tickMs, Math.ceil(userTtlMs / 6))),
  };
}

export const poolOf = ({ codeDigits, poolSize }: Options): Pool =>
  createPool(codeDigits, poolSize ?? allCodes(codeDigits));

/** Lifetime of an idempotency key: fixed by the protocol, so not an option. */
const IDEMPOTENCY_MS = 10 * MINUTE;

/** How long a shard waits for the nodes after the store may have lost its state. */
const RECOVERY_MS = 5_000;

export const policyOf = (options: Options): Policy => ({
  leaseMs: options.userTtlMs,
  // Every node visits every shard within a tick: there is nobody to wait for after it.
  recoveryMs: Math.min(RECOVERY_MS, options.tickMs),
  graceMs: options.graceMs,
  idleMs: options.roomIdleMs,
  emptyMs: options.roomEmptyMs,
  maxAgeMs: options.roomMaxAgeMs,
  cooldownMs: options.codeCooldownMs,
  idempotencyMs: IDEMPOTENCY_MS,
  closeOnHostLeave: options.closeOnHostLeave,
});
