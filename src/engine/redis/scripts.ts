/** The Lua scripts, put together from their files, and what is handed to them. */

import { composeScript, luaBeside, PRELUDE, type Script } from '../../redis/script.ts';
import type { Command, SeatChanges } from '../../room/commands.ts';
import { codeAt, SHARDS } from '../../room/pool.ts';
import { MAX_BANS } from '../../room/transitions.ts';
import type { EngineSettings } from '../engine.ts';
import type { Keys } from './keys.ts';

export type Scripts = Readonly<Record<Command['kind'], Script>>;

/** The files that a script is put together from, its own one last. */
const OF_A_SHARD = ['room', 'feed', 'seats'];
const OF_A_USER = ['user'];
export const SHARED_FILES: Readonly<Record<Command['kind'], readonly string[]>> = {
  create: OF_A_SHARD,
  join: OF_A_SHARD,
  leave: OF_A_SHARD,
  suspend: OF_A_SHARD,
  resume: OF_A_SHARD,
  renew: OF_A_SHARD,
  update: OF_A_SHARD,
  kick: OF_A_SHARD,
  close: OF_A_SHARD,
  read: OF_A_SHARD,
  list: OF_A_SHARD,
  tick: OF_A_SHARD,
  stats: OF_A_SHARD,
  arrive: OF_A_USER,
  touch: OF_A_USER,
  depart: OF_A_USER,
};

/** @param readLua gives the text of a Lua file by its name; only tests of the tests have another one. */
export function loadScripts(readLua: (name: string) => string = readLuaFile): Scripts {
  const kinds = Object.keys(SHARED_FILES) as Command['kind'][]; // the record's own keys
  return Object.fromEntries(kinds.map((kind) => [kind, compose(kind, SHARED_FILES[kind], readLua)])) as Scripts; // one for each of them
}

export const readLuaFile = luaBeside(import.meta.url);

/** Not a command: it changes nothing, and looks at a shard as no rule does. */
export const loadAuditScript = (): Script => compose('audit', ['room']);

export interface FeedScripts {
  readonly read: Script;
  readonly announce: Script;
}

/** No commands: they belong to no shard. */
export const loadFeedScripts = (): FeedScripts => ({
  read: compose('feed/read', []),
  announce: compose('feed/announce', []),
});

const OF_DELIVERIES = ['take', 'settle', 'figures', 'dead', 'replay'] as const;
export type DeliveryScripts = Readonly<Record<(typeof OF_DELIVERIES)[number], Script>>;

/** No commands either: they belong to an endpoint of webhooks. */
export const loadDeliveryScripts = (): DeliveryScripts =>
  Object.fromEntries(
    OF_DELIVERIES.map((name) => [name, compose(`deliveries/${name}`, ['deliveries/lanes'])]),
  ) as DeliveryScripts; // one for each of them

const compose = (name: string, shared: readonly string[], readLua = readLuaFile): Script =>
  composeScript(readLua(name), [PRELUDE, ...shared.map(readLua)]);

/** Commands that change nothing which back ends are told of. */
const TELLS_NOTHING: ReadonlySet<Command['kind']> = new Set([
  'renew',
  'read',
  'list',
  'stats',
  'arrive',
  'touch',
  'depart',
]);

/** ARGV of a command's script: the command as JSON, then its opaque bodies. */
export function argumentsOf(command: Command, settings: EngineSettings, keys: Keys, now?: number): string[] {
  const { policy, pool } = settings;
  const feed = TELLS_NOTHING.has(command.kind) ? undefined : feedFigures(settings, keys);
  const circumstances = { policy, feed, ...(now !== undefined && { now }) };
  switch (command.kind) {
    case 'create': {
      const { settings: said, by } = command;
      const { stems } = keys.shard(command.shard);
      const body = {
        ...command,
        settings: withoutBody(said),
        ...(by && { by: { ...by, profile: withoutBody(by.profile) } }),
        pool: poolFigures(pool),
        stems,
      };
      return [JSON.stringify({ ...body, ...circumstances }), by?.profile.metadata ?? '', said.metadata ?? ''];
    }
    case 'join': {
      const { by } = command;
      const body = { ...command, by: { ...by, profile: withoutBody(by.profile) } };
      return [JSON.stringify({ ...body, ...circumstances }), by.profile.metadata ?? ''];
    }
    case 'update': {
      const { change } = command;
      const body = { ...command, change: { of: change.of, to: withoutBody(change.to) } };
      return [JSON.stringify({ ...body, ...circumstances }), change.to.metadata ?? ''];
    }
    case 'list':
      return [JSON.stringify({ ...command, pool: poolFigures(pool), stems: keys.shard(command.shard).stems })];
    case 'tick': {
      const { stems } = keys.shard(command.shard);
      return [JSON.stringify({ ...command, pool: poolFigures(pool), stems, ...circumstances })];
    }
    case 'kick':
      return [JSON.stringify({ ...command, maxBans: MAX_BANS, ...circumstances })];
    case 'touch':
      // Left out, not null: null is a value in Lua's eyes.
      return [JSON.stringify({ ...command, seat: command.seat ?? undefined, ...circumstances })];
    default:
      return [JSON.stringify({ ...command, ...circumstances })];
  }
}

function withoutBody<Changes extends Pick<SeatChanges, 'metadata'>>(changes: Changes): Omit<Changes, 'metadata'> {
  const { metadata: _, ...others } = changes;
  return others;
}

/** What it takes to number the codes of a shard. */
export const poolFigures = (pool: EngineSettings['pool']) => ({
  perShard: pool.perShard,
  least: Number(codeAt(pool, 0, 0)),
  shards: SHARDS,
});

/** Where the scripts tell what they do; nowhere when nothing of it is kept. */
export const feedFigures = ({ feedMaxEvents, nodeId }: EngineSettings, keys: Keys) =>
  feedMaxEvents === 0 ? undefined : { channel: keys.feedChannel, kept: feedMaxEvents, nodeId };
