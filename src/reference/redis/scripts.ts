/** The scripts of references, each put together from what they share and its own file. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const read = (name: string): string => readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');

/** The shebang stands in the script's own file, and must come first. */
function compose(name: string, shared: readonly string[]) {
  const own = read(name);
  const end = own.indexOf('\n') + 1;
  const source = [own.slice(0, end), ...shared.map(read), own.slice(end)].join('\n');
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

export const loadScripts = () => ({ take: compose('take', ['blocks', 'calendar']), add: compose('add', ['blocks']) });
