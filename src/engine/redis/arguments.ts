/** How commands become the arguments of their scripts. */
import type { Command, Create, Restore, SeatChanges } from '../../room/commands.ts';
import { codeAt, type Pool, SHARDS, shardOf } from '../../room/pool.ts';
import { MAX_BANS } from '../../room/transitions.ts';
import type { Keys } from './keys.ts';

/** ARGV of a script: the fields as one JSON object, then the opaque bodies, each by itself; '' for none. */
export interface Encoded {
  readonly fields: object;
  readonly bodies: readonly string[];
}

/** The numbers by which codes are numbered within their shard. */
export const poolNumbers = (pool: Pool) => ({
  perShard: pool.perShard,
  minCode: Number(codeAt(pool, 0, 0)),
  shards: SHARDS,
});

export function encodePlain(command: Command): Encoded {
  return { fields: command, bodies: [] };
}

/** Encoding for shard-scoped commands: their scripts learn the codes of rooms while they run. */
export function encodeShardCommand(command: { readonly shard: number }, pool: Pool, keys: Keys): Encoded {
  return {
    fields: { ...command, pool: poolNumbers(pool), keyPrefixes: keys.shard(command.shard).keyPrefixes },
    bodies: [],
  };
}

export function withoutBody<Changes extends Pick<SeatChanges, 'metadata'>>(
  changes: Changes,
): Omit<Changes, 'metadata'> {
  const { metadata: _, ...others } = changes;
  return others;
}

export function encodeCreate({ by, settings, ...command }: Create, pool: Pool, keys: Keys): Encoded {
  const { fields } = encodeShardCommand(command, pool, keys);
  const host = by && { by: { ...by, profile: withoutBody(by.profile) } };
  return {
    fields: { ...fields, settings: withoutBody(settings), ...host },
    bodies: [by?.profile.metadata ?? '', settings.metadata ?? ''],
  };
}

/** Null is stored by leaving out the field, and bans are one string. */
export function encodeRestore({ room, seats, ...command }: Restore, pool: Pool, keys: Keys): Encoded {
  const { fields } = encodeShardCommand({ ...command, shard: shardOf(command.code) }, pool, keys);
  const banned = room.banned.length === 0 ? null : room.banned.join(' ');
  const copies = { room: withoutNulls({ ...room, banned }), seats: seats.map(withoutNulls) };
  return { fields: { ...fields, ...copies, maxBans: MAX_BANS }, bodies: [] };
}

const withoutNulls = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
