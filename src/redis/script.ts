/** Lua scripts, each composed of several files. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export interface Script {
  readonly source: string;
  /** SHA-1 of the source, by which EVALSHA calls it. */
  readonly sha: string;
  /** Whether its success shows that Redis takes writes: it has no flag that allows it to run where others are refused. */
  readonly provesWrites: boolean;
}

/** Reads `lua/<name>.lua` beside a module. */
export const luaBeside =
  (moduleUrl: string) =>
  (name: string): string =>
    readFileSync(new URL(`./lua/${name}.lua`, moduleUrl), 'utf8');

/** The text that comes first in most scripts: it decodes the command and reads the time. */
export const PRELUDE = luaBeside(import.meta.url)('prelude');

/**
 * @param own the text of the script itself. Its first line is the shebang, which must come first in the source too.
 * @param shared texts that it uses, in their order
 */
export function composeScript(own: string, shared: readonly string[]): Script {
  const end = own.indexOf('\n') + 1;
  const source = [own.slice(0, end), ...shared, own.slice(end)].join('\n');
  const sha = createHash('sha1').update(source).digest('hex');
  return { source, sha, provesWrites: !own.slice(0, end).includes('flags=') };
}
