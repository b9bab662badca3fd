/** The Lua scripts of the engine. Each is composed of its own file and of those that it shares with others. */
import { composeScript, luaBeside, PRELUDE, type Script } from '../../redis/script.ts';
import type { Command } from '../../room/commands.ts';
import { COMMANDS } from './commands.ts';
import { luaTables } from './fields.ts';

export type Scripts = Readonly<Record<Command['kind'], Script>>;

/** The files that the scripts of commands share, by the scope of the command. */
export const SHARED_FILES = { shard: ['epoch', 'room', 'feed', 'seats'], user: ['user'], codes: ['codes'] } as const;

/** Those that look for codes. */
const SEARCHING: ReadonlySet<string> = new Set<Command['kind']>(['create', 'restore', 'list']);

/** @param readLua gives the text of a Lua file by its name; tests replace it to plant faults. */
export function loadScripts(readLua: (name: string) => string = readLuaFile): Scripts {
  const scripts = Object.entries(COMMANDS).map(([kind, { scope }]) => {
    const own = readLua(kind);
    const tables = scope === 'shard' ? [luaTables(), readOnly(own)] : [];
    const shared = [...SHARED_FILES[scope], ...(SEARCHING.has(kind) ? SHARED_FILES.codes : [])];
    return [kind, composeScript(own, [PRELUDE, ...tables, ...shared.map(readLua)])] as const;
  });
  return Object.fromEntries(scripts) as Scripts; // one for each row
}

export const readLuaFile = luaBeside(import.meta.url);

/** Whether Redis refuses writes in a script, which that cannot ask. */
const readOnly = (own: string): string => `local READ_ONLY = ${own.startsWith('#!lua flags=no-writes')}`;

/** Not a command: it looks at a whole shard, and there is no rule for it. */
export const loadAuditScript = (): Script =>
  compose('audit', [luaTables(), readOnly(readLuaFile('audit')), ...['epoch', 'room'].map(readLuaFile)]);

export interface FeedScripts {
  readonly read: Script;
  readonly announce: Script;
}

/** No commands: they belong to no shard. */
export const loadFeedScripts = (): FeedScripts => ({ read: compose('feed/read'), announce: compose('feed/announce') });

const compose = (name: string, shared: readonly string[] = []): Script =>
  composeScript(readLuaFile(name), [PRELUDE, ...shared]);
