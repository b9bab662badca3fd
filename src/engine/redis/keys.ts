/** The names of all keys of the engine. The keys of a shard are in one hash slot, and so are those of a user. */
import type { RoomCode, UserId } from '../../protocol/ids.ts';
import type { Command } from '../../room/commands.ts';
import { SHARDS } from '../../room/pool.ts';
import { isUserCommand, shardOfCommand } from '../../room/rules.ts';

export interface ShardKeys {
  /** Bitmap: 1 = the code of that index is occupied or cooling. */
  readonly taken: string;
  /** Sorted set: `<code> <userId>` by the end of the seat's lease. */
  readonly leases: string;
  /** Sorted set: every occupied code by the deadline of its room. */
  readonly due: string;
  /** Sorted set: every cooling code by the instant at which it has cooled. */
  readonly cooling: string;
  /** Hash: the epoch of the shard, see `lua/epoch.lua`. */
  readonly meta: string;
  /** Stream: the feed that the scripts of this shard append to. */
  readonly feed: string;
  room(code: RoomCode): string;
  members(code: RoomCode): string;
  idempotency(key: string): string;
  /** Prefixes of the keys of a code that a script learns while it runs. */
  readonly keyPrefixes: { readonly room: string; readonly members: string };
}

export interface Keys {
  readonly prefix: string;
  /**
   * The beginning of the names of all channels. Keys belong to a database of Redis, but all databases of a server share its
   * channels: outside of database 0 the number is a part of it, behind a character that no prefix has.
   */
  readonly channelPrefix: string;
  /** Begins the channels of the Socket.IO adapter. */
  readonly socketPrefix: string;
  readonly secret: string;
  /** String: written again and again, to learn whether Redis takes writes. */
  readonly probe: string;
  /** The shape of the pool that all nodes share. */
  readonly pool: string;
  /**
   * Streams: an entry for each event of the feed, its JSON in the field `event`. One for all shards; on a Cluster one for
   * each, because a script can only write in the slot of its shard.
   */
  readonly feeds: readonly [string, ...string[]];
  /** Channel: the same JSON. */
  readonly feedChannel: string;
  /** String `quiet:<key>`: exists while an announcement is not appended again; in the slot of the first stream. */
  dedupe(key: string): string;
  /** @throws RangeError when there is no such shard. */
  shard(shard: number): ShardKeys;
  user(userId: UserId): string;
  /** Patterns for SCAN that find every room, even one that is in no sorted set. */
  readonly patterns: readonly string[];
  /** The code in a key that matches one of the patterns. */
  codeIn(key: string): RoomCode | undefined;
  /** The KEYS of a command's script. */
  scriptKeysOf(command: Command): string[];
}

export interface KeysOptions {
  readonly clustered?: boolean;
  /** The number of the database. */
  readonly database?: number;
}

export function createKeys(prefix: string, { clustered = false, database = 0 }: KeysOptions = {}): Keys {
  const channelPrefix = database === 0 ? prefix : `${prefix}@${database}:`;
  const shards = Array.from({ length: SHARDS }, (_, shard) => shardKeys(prefix, shard, clustered));
  const keys: Keys = {
    prefix,
    channelPrefix,
    socketPrefix: `${channelPrefix}io`,
    secret: `${prefix}secret`,
    probe: `${prefix}probe`,
    pool: `${prefix}pool`,
    feeds: clustered
      ? [`${shardPrefix(prefix, 0)}events`, ...shards.slice(1).map(({ feed }) => feed)]
      : [`${prefix}events`],
    feedChannel: `${channelPrefix}room:events`,
    dedupe: (key) => `${clustered ? shardPrefix(prefix, 0) : prefix}quiet:${key}`,
    shard(shard) {
      const found = shards[shard];
      if (found === undefined) throw new RangeError('no such shard');
      return found;
    },
    user: (userId) => `${prefix}{u:${userId}}`,
    patterns: ['room', 'members'].map((kind) => `${escapeGlob(prefix)}{s[0-9][0-9]}:${kind}:*`),
    // Not checked further: every client of Redis can create such a key, and the audit only compares codes.
    codeIn: (key) => /^\{s\d\d\}:\w+:(\d{6,8})$/.exec(key.slice(prefix.length))?.[1] as RoomCode | undefined,
    scriptKeysOf: (command) => keysOf(keys, command),
  };
  return keys;
}

/** Escapes the characters that have a meaning in a glob pattern of Redis. */
export const escapeGlob = (text: string): string => text.replaceAll(/[\\?*[\]]/g, String.raw`\$&`);

const shardPrefix = (prefix: string, shard: number): string => `${prefix}{s${String(shard).padStart(2, '0')}}:`;

function shardKeys(prefix: string, shard: number, clustered: boolean): ShardKeys {
  const start = shardPrefix(prefix, shard);
  const keyPrefixes = { room: `${start}room:`, members: `${start}members:` };
  return {
    taken: `${start}taken`,
    leases: `${start}leases`,
    due: `${start}due`,
    cooling: `${start}cooling`,
    meta: `${start}meta`,
    feed: `${clustered ? start : prefix}events`,
    room: (code) => keyPrefixes.room + code,
    members: (code) => keyPrefixes.members + code,
    idempotency: (key) => `${start}idem:${key}`,
    keyPrefixes,
  };
}

/** The first KEYS of every script of a shard. */
export const sharedKeys = ({ taken, leases, due, cooling, meta }: Omit<ShardKeys, 'keyPrefixes'>): string[] => [
  taken,
  leases,
  due,
  cooling,
  meta,
];

function keysOf(keys: Keys, command: Command): string[] {
  if (isUserCommand(command)) return [keys.user(command.userId)];
  const shard = keys.shard(shardOfCommand(command));
  const shared = [...sharedKeys(shard), shard.feed];
  if ('code' in command) return [...shared, shard.room(command.code), shard.members(command.code)];
  if (command.kind === 'create' && command.idempotencyKey !== undefined) {
    return [...shared, shard.idempotency(command.idempotencyKey)];
  }
  return shared;
}
