/** Options as a server uses them: read from what it was given, and what the rules and the codes are made of. */
import { allCodes, createPool, type Pool } from '../../room/pool.ts';
import type { Policy } from '../../room/room.ts';
import { checkTogether } from './checks.ts';
import { MINUTE } from './entry.ts';
import { OptionError } from './option-error.ts';
import { OPTIONS, type Options, type PartialOptions } from './table.ts';

export { OptionError } from './option-error.ts';
export { DEFAULT_SOCKET_PATH } from './serving.ts';
export { OPTIONS, type OptionName, type Options, type PartialOptions } from './table.ts';

/**
 * Checks options and fills in the defaults.
 *
 * @throws OptionError naming the first option that is unknown, malformed, or at odds with another.
 */
export function readOptions(given: PartialOptions): Options {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(OPTIONS, name)) throw new OptionError(name, 'no such option');
  const read = Object.entries(OPTIONS).map(([name, { schema }]) => {
    const value = schema.safeParse(Reflect.get(given, name));
    if (!value.success) throw new OptionError(name, value.error.issues[0]?.message ?? 'malformed');
    return [name, value.data];
  });
  // Each value has been parsed by the schema that its type is inferred from.
  const options = keepUp(Object.fromEntries(read) as Options, given);
  checkTogether(options);
  return options;
}

/** Who shortens the life of a seat means the signs of life to keep up with it, unless it says otherwise. */
function keepUp(options: Options, given: PartialOptions): Options {
  const { userTtlMs, heartbeatIntervalMs, tickMs } = options;
  return {
    ...options,
    heartbeatIntervalMs: given.heartbeatIntervalMs ?? Math.min(heartbeatIntervalMs, Math.ceil(userTtlMs / 2)),
    tickMs: given.tickMs ?? Math.max(100, Math.min(tickMs, Math.ceil(userTtlMs / 6))),
  };
}

export const poolOf = ({ codeDigits, poolSize }: Options): Pool =>
  createPool(codeDigits, poolSize ?? allCodes(codeDigits));

/** How long a create can be repeated with the same key: the protocol's word, not an option. */
const RECEIPT_MS = 10 * MINUTE;

export const policyOf = (options: Options): Policy => ({
  leaseMs: options.userTtlMs,
  graceMs: options.graceMs,
  idleMs: options.roomIdleMs,
  emptyMs: options.roomEmptyMs,
  maxAgeMs: options.roomMaxAgeMs,
  cooldownMs: options.codeCooldownMs,
  idempotencyMs: RECEIPT_MS,
  closeOnHostLeave: options.closeOnHostLeave,
});
