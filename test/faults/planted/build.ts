/** A copy of the built program with one fault in it. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Patch {
  /** In dist/. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const UNUSED = /\/dist\/(browser|client-demo|api)(\/|$)/;

/** @returns the path of its main file. It lies inside the repository, where it finds what it imports. */
export async function buildWith(patches: readonly Patch[]): Promise<AsyncDisposable & { readonly main: string }> {
  const folder = await mkdtemp(join(root, 'node_modules/.planted-'));
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true, filter: (path) => !UNUSED.test(path) });
  for (const patch of patches) await writeFile(join(folder, 'dist', patch.file), await patched(patch));
  return {
    main: join(folder, 'dist/cli/main.js'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** @returns the text of the file with the fault in it. @throws where the program no longer has what the fault replaces */
export async function patched({ file, from, to }: Patch): Promise<string> {
  const text = await readFile(join(root, 'dist', file), 'utf8');
  // A fault that is no longer one would be reported as a hole in the checker.
  if (text.split(from).length !== 2) throw new Error(`dist/${file} does not hold exactly once: ${from}`);
  return text.replace(from, () => to);
}
