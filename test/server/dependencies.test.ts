/** What is given beside the options, as JavaScript would give it: a hook that is misspelt would let in everybody. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createServer, OptionError, type PartialOptions } from '../../src/index.ts';

const LOCAL: PartialOptions = { host: '127.0.0.1', port: 0, demo: false };
const authenticate = () => {};

test.each<[string, string, object]>([
  ['hook in the singular', 'hook', { hook: { authenticate } }],
  ['a hook among the dependencies', 'authenticate', { authenticate }],
  ['a hook that is misspelt', 'hooks.authenticat', { hooks: { authenticat: authenticate } }],
  ['one in small letters', 'hooks.onjoin', { hooks: { onjoin: authenticate } }],
  ['no function', 'hooks.onCreate', { hooks: { onCreate: 5 } }],
  ['an answer in its place', 'hooks.onJoin', { hooks: { onJoin: null } }],
  ['no object', 'hooks', { hooks: authenticate }],
  ['a prefix in no server', 'prefix', { prefix: '/signaling' }],
])('%s is refused by its name', async (_, option, dependencies) => {
  const error = await createServer(LOCAL, dependencies).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(OptionError);
  expect(error).toMatchObject({ option });
});

test('what is undefined is not given; hooks may be the methods of a class', async () => {
  class HookClass {
    async authenticate() {
      return { refuse: 'closed' };
    }
  }
  for (const hooks of [{ authenticate: undefined }, new HookClass()]) {
    const server = await createServer(LOCAL, { hooks: hooks as object });
    await server.close();
  }
});

test('without a log, what goes wrong is a line of JSON on standard error', async () => {
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { createServer } from './dist/index.js';
       const server = await createServer(${JSON.stringify({ ...LOCAL, demo: true, socketPath: '/elsewhere/' })});
       await server.close();`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stdout).toBe('');
  const lines = stderr.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 40, msg: expect.stringContaining('the demo page is not served') }),
  ]);
});
