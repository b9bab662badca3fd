import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The peer that `docs/protocol.md` holds, as a program. It lies inside the repository, where it finds what it imports. */
export async function unpackPeer(): Promise<AsyncDisposable & { readonly path: string }> {
  const page = await readFile(join(root, 'docs/protocol.md'), 'utf8');
  const [, program] = /```js\n(\/\/ peer\.mjs\n.*?)```/s.exec(page) ?? [];
  if (program === undefined) throw new Error('the page has no peer.mjs');
  const folder = await mkdtemp(join(root, 'node_modules/.peer-'));
  const path = join(folder, 'peer.mjs');
  await writeFile(path, program);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
