/** The example of `docs/protocol.md` is a program that works: two of it meet through a server and talk to each other. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createServer } from '../../src/index.ts';
import { startChild } from '../support/process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('two peers from the page open a room, join it and hear each other over a data channel', async () => {
  await using example = await unpackExample();
  const server = await createServer({ host: '127.0.0.1', port: 0, demo: false });
  try {
    await using host = await startChild({ command: process.execPath, args: [example.path, server.url] });
    const code = (await host.line(/^code \d{6}$/)).slice('code '.length);
    await using guest = await startChild({ command: process.execPath, args: [example.path, server.url, code] });
    const greeting = /^(\S+) says: hello from \1$/;
    expect(await guest.line(greeting)).toBeTruthy();
    expect(await host.line(greeting)).toBeTruthy();
    expect([...host.lines, ...guest.lines].filter((line) => !/^code|says: hello/.test(line))).toEqual([]);
  } finally {
    await server.close();
  }
});

/** Inside the repository, so that it finds the packages that it imports. */
async function unpackExample() {
  const page = await readFile(join(root, 'docs/protocol.md'), 'utf8');
  const [, program] = /```js\n(\/\/ peer\.mjs\n.*?)```/s.exec(page) ?? [];
  if (program === undefined) throw new Error('the page has no peer.mjs');
  const folder = await mkdtemp(join(root, 'node_modules/.peer-'));
  const path = join(folder, 'peer.mjs');
  await writeFile(path, program);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
