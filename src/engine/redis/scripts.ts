/** The Lua scripts of the engine. Each is composed of its own file and of those that it shares with others. */
import { composeScript, luaBeside, PRELUDE, type Script } from '../../redis/script.ts';
import type { Command } from '../../room/commands.ts';
import { COMMANDS } from './commands.ts';
import { luaTables } from './fields.ts';

export type Scripts = Readonly<Record<Command['kind'], Script>>;

/** The files that the scripts of commands share, by the scope of the command. */
export const SHARED_FILES = { shard: ['room', 'feed', 'seats'], user: ['user'] } as const;

/** @param readLua gives the text of a Lua file by its name; tests replace it to plant faults. */
export function loadScripts(readLua: (name: string) => string = readLuaFile): Scripts {
  const scripts = Object.entries(COMMANDS).map(([kind, { scope }]) => {
    const tables = scope === 'shard' ? [luaTables()] : [];
    return [kind, composeScript(readLua(kind), [PRELUDE, ...tables, ...SHARED_FILES[scope].map(readLua)])] as const;
  });
  return Object.fromEntries(scripts) as Scripts; // one for each row
}

export const readLuaFile = luaBeside(import.meta.url);

/** Not a command: it looks at a whole shard, and there is no rule for it. */
export const loadAuditScript = (): Script => compose('audit', [luaTables(), readLuaFile('room')]);

export interface FeedScripts {
  readonly read: Script;
  readonly announce: Script;
}

/** No commands: they belong to no shard. */
export const loadFeedScripts = (): FeedScripts => ({ read: compose('feed/read'), announce: compose('feed/announce') });

const compose = (name: string, shared: readonly string[] = []): Script =>
  composeScript(readLuaFile(name), [PRELUDE, ...shared]);
