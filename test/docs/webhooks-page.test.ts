/** Facts of `docs/webhooks.md`, checked against the source, and its receivers, run against real events. */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { executableOf } from '../../scripts/services.ts';
import { flagOf } from '../../src/cli/option-spellings.ts';
import { readOptions } from '../../src/server/options/options.ts';
import { MAX_PENDING, MAX_ROOMS } from '../../src/webhooks/dispatcher.ts';
import { MAX_DEAD_LETTERS, MIN_ATTEMPTS } from '../../src/webhooks/queue/queue.ts';
import { connectClient } from '../support/client.ts';
import { startNodes } from '../support/nodes.ts';
import { type RunningChild, startChild, type TemporaryFolder, temporaryFolder } from '../support/process.ts';
import { snippetsOf } from './snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = 'docs/webhooks.md';
const page = readFileSync(join(root, PAGE), 'utf8');
const text = page.replaceAll(/\s+/g, ' ');

async function runReceiver(folder: TemporaryFolder, name: string, command: string, file: string, secret: string) {
  const program = join(folder.path, file);
  await writeFile(program, (await snippetsOf(PAGE, '')).get(name) ?? expect.unreachable());
  return startChild({ command, args: [program], env: { PORT: '0', WEBHOOK_SECRET: secret } });
}

async function startReceiver(...of: Parameters<typeof runReceiver>) {
  const child = await runReceiver(...of);
  return { child, url: `http://127.0.0.1:${/\d+$/.exec(await child.line(/^listening on/))?.[0]}` };
}

const told = ({ lines }: RunningChild) => lines.filter((line) => !line.startsWith('listening'));

const SECRETS = [
  ['the page’s', /whsec_\S{20,}/.exec(page)?.[0] ?? expect.unreachable()],
  ['a plain', 'any text of 16 characters or more'],
] as const;

test.each(SECRETS)(
  'receivers in Node and Python take what is sent with %s secret, and nothing forged',
  async (_, secret) => {
    await using folder = await temporaryFolder();
    const node = await startReceiver(folder, 'node-receiver', process.execPath, 'receiver.mjs', secret);
    const python = await startReceiver(folder, 'python-receiver', executableOf('python'), 'receiver.py', secret);
    await using _node = node.child;
    await using _python = python.child;
    const webhooks = { webhookUrls: [node.url, python.url], webhookSecrets: [secret], webhookAllowPrivate: true };
    await using nodes = await startNodes({ kind: 'memory', count: 1 }, webhooks);
    await using ann = await connectClient(nodes.url(0), { name: 'Änne' });
    const { room } = await ann.must('room:create');
    const forged = JSON.stringify({ id: 'forged:0', type: 'room_created' });
    for (const { url } of [node, python]) {
      const now = String(Math.floor(Date.now() / 1000));
      const headers = { 'webhook-id': 'forged:0', 'webhook-timestamp': now, 'webhook-signature': 'v1,Zm9yZ2Vk' };
      for (const tried of [{}, headers, { ...headers, 'webhook-timestamp': '1614265330' }])
        expect((await fetch(url, { method: 'POST', body: forged, headers: tried })).status).toBe(401);
    }
    await ann.must('room:close');
    for (const { child } of [node, python]) {
      await child.line(/room_destroyed/);
      expect(told(child)).toEqual([
        `${room.ref}:0 room_created`,
        `${room.ref}:1 user_joined`,
        `${room.ref}:2 user_left`,
        `${room.ref}:3 room_destroyed`,
      ]);
    }
  },
);

test('a receiver without a secret stops with one line that says so', async () => {
  await using folder = await temporaryFolder();
  for (const [name, command, file] of [
    ['node-receiver', process.execPath, 'receiver.mjs'],
    ['python-receiver', executableOf('python'), 'receiver.py'],
  ] as const) {
    await using child = await runReceiver(folder, name, command, file, '');
    expect(await child.exited).toEqual({ code: 1, signal: null });
    expect(child.lines).toEqual(['WEBHOOK_SECRET is missing: give it the secret that the server signs with']);
  }
});

test('the options, figures and files that the page names exist', () => {
  const options = readOptions({});
  const names = new Set(Object.keys(options).map(flagOf));
  for (const [name] of page.matchAll(/--webhook[a-z-]*/g)) expect(names).toContain(name);
  for (const [, name = ''] of page.matchAll(/`(webhook[A-Z]\w+|feedMaxEvents)`/g)) expect(options).toHaveProperty(name);
  const number = (value: number) => value.toLocaleString('en-US');
  expect(text).toContain(`within ${options.webhookTimeoutMs / 1000} seconds`);
  expect(text).toContain(`After ${options.webhookGiveUpMs / 3_600_000} hours`);
  expect(text).toContain(`at least ${MIN_ATTEMPTS} attempts`);
  expect(text).toContain(`newest ${number(MAX_DEAD_LETTERS)} dead letters`);
  expect(text).toContain(`up to ${MAX_ROOMS} rooms at once`);
  expect(text).toContain(`Up to ${number(MAX_PENDING)} events`);
  expect(text).toContain(`\`feedMaxEvents\` (${number(options.feedMaxEvents)})`);
  for (const [, path = ''] of page.matchAll(/\]\((?!http)([^)#]+)\)/g))
    expect(existsSync(join(root, 'docs', path))).toBe(true);
});
