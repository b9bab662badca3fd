/**
 * The tests in three parts, which `vitest.config.ts` runs: chosen by what a file imports and where it lies, so that the
 * choice follows files that move.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What starts a service, a browser or the built program: a test that imports one of these, by itself or through others. */
const STARTERS: ReadonlySet<string> = new Set(
  ['browser', 'coturn', 'fleet', 'mariadb', 'nginx', 'postgres', 'process', 'redis', 'signalbox', 'background-tabs']
    .map((name) => `test/support/${name}.ts`)
    .concat('scripts/services.ts'),
);
const BROWSERS: ReadonlySet<string> = new Set(['test/support/browser.ts', 'test/support/background-tabs.ts']);

/** Tests that start nothing by these means, and yet need what a build has written to dist/. */
export const NOT_QUICK: ReadonlySet<string> = new Set([
  'test/client/size.test.ts',
  'test/faults/planted.test.ts',
  'test/server/dependencies.test.ts',
  'test/server/http/page.test.ts',
]);

/** Folders whose tests change a browser's globals, count sockets and timers, or look at whole processes. */
const APART = /^test\/(browser|cli|client|deploy|docs)\//;

interface Selection {
  /** They need nothing but Node. */
  readonly quick: readonly string[];
  /** They start services, and change nothing in their own process that the next file could see. */
  readonly services: readonly string[];
  /** They need a process of their own. */
  readonly apart: readonly string[];
}

export function selectTests(): Selection {
  const files = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .sort();
  const isQuick = (file: string) => !NOT_QUICK.has(file) && !imports(file, STARTERS);
  const others = files.filter((file) => !isQuick(file));
  return {
    quick: files.filter(isQuick),
    services: others.filter((file) => !APART.test(file)),
    apart: others.filter((file) => APART.test(file)),
  };
}

export const startsBrowser = (file: string): boolean => imports(file, BROWSERS);

const imports = (file: string, wanted: ReadonlySet<string>): boolean =>
  [...closureOf(file)].some((one) => wanted.has(one));

/** A file of the tests with all that it imports outside of `src`, however far away. */
function closureOf(file: string, seen: Set<string> = new Set()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const target of importsOf(file)) closureOf(target, seen);
  return seen;
}

const known = new Map<string, readonly string[]>();

function importsOf(file: string): readonly string[] {
  const before = known.get(file);
  if (before !== undefined) return before;
  const targets = [...withoutTypes(textOf(file)).matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
    .map(([, specifier = '']) => posix.join(posix.dirname(file), specifier))
    .filter((target) => /^(test|scripts)\//.test(target));
  known.set(file, targets);
  return targets;
}

/** Imports of types alone load nothing. */
const withoutTypes = (text: string): string => text.replace(/^import type [^;]*;$/gm, '');

function textOf(file: string): string {
  try {
    return readFileSync(`${root}/${file}`, 'utf8');
  } catch {
    // An import that only a comment or a text shows.
    return '';
  }
}
