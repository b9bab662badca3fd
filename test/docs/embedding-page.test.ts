/** Every example of `docs/embedding.md`, run unchanged. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { FEED_TYPES } from '../../src/protocol/feed.ts';
import { refusedHandshake } from '../server/scenarios/members.ts';
import { connectClient } from '../support/client.ts';
import { startChild } from '../support/process.ts';
import { snippetsOf } from './snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/embedding.md'), 'utf8');
const snippets = await snippetsOf('docs/embedding.md', '');
const JWT_SECRET = 'the secret of an identity provider';

/** Runs an example in a process of its own, until it is told to end, which it must do by itself. */
async function play(
  name: string,
  work: (url: string, line: (pattern: RegExp) => Promise<string>) => Promise<void>,
  secret = JWT_SECRET,
) {
  // Inside the repository, so that the packages that it imports are found.
  const folder = await mkdtemp(join(root, 'dist.example-'));
  try {
    const path = join(folder, 'example.mjs');
    await writeFile(path, snippets.get(name) ?? expect.unreachable());
    const env = { PORT: '0', JWT_SECRET: secret };
    await using child = await startChild({ command: process.execPath, args: [path], env, ready: /^listening on \d+$/ });
    const [, port] = /(\d+)$/.exec(await child.line(/^listening on/)) ?? [];
    await work(`http://localhost:${port}`, (pattern) => child.line(pattern));
    child.signal('SIGTERM');
    expect(await child.exited).toEqual({ code: 0, signal: null });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const text = async (url: string): Promise<string> => (await fetch(url)).text();

test('every example of the page is run by a test', () => {
  expect([...snippets.keys()]).toEqual(['', 'log', 'http', 'fastify', 'authenticate', 'rooms', 'events']);
});

test('the example of a custom log', async () => {
  await play('log', async (url, line) => {
    await using ann = await connectClient(url);
    const { ref } = (await ann.must('room:create')).room;
    expect(JSON.parse(await line(/a room was created/))).toMatchObject({ level: 30, ref });
  });
});

test.each([
  ['http', '/socket.io'],
  ['fastify', '/signaling/socket'],
])('the example of a host server: %s', async (name, path) => {
  await play(name, async (url) => {
    expect(await text(url)).toBe('a page of my own');
    expect(JSON.parse(await text(`${url}/signaling/healthz`))).toMatchObject({ ok: true });
    // Connected to the end: that does not keep the program from ending.
    const ann = await connectClient(url, {}, { path });
    await ann.must('room:create');
  });
});

test('the example of authentication', async () => {
  const tokenFor = (account: string, secret = JWT_SECRET) =>
    new SignJWT({ name: 'Ann', role: 'teacher' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(account)
      .setAudience('calls')
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(secret));
  await play('authenticate', async (url) => {
    await using ann = await connectClient(url, { token: await tokenFor('ann-7') });
    const { room } = await ann.must('room:create');
    expect(room.members).toMatchObject([{ userId: 'ann-7', name: 'Ann', metadata: { role: 'teacher' } }]);
    await using guest = await connectClient(url);
    expect(guest.userId).toMatch(/^guest-/);
    for (const [token, message] of [
      [await tokenFor('ann-7', 'the secret of somebody else entirely'), 'Sign in again.'],
      [await tokenFor('mallory'), 'This account is closed.'],
    ])
      expect(await refusedHandshake(url, { token })).toMatchObject({ code: 'UNAUTHENTICATED', message });
  });
});

test('the example of authentication does not start with a weak secret', async () => {
  await expect(play('authenticate', async () => {}, '')).rejects.toThrow('JWT_SECRET: 32 characters or more');
});

test('the example of hooks for rooms', async () => {
  await play('rooms', async (url) => {
    await using ann = await connectClient(url, { name: 'Ann' });
    await using nobody = await connectClient(url);
    expect(await nobody.refused('room:create')).toBe('FORBIDDEN');
    const { room } = await ann.must('room:create', { type: 'lesson' });
    expect(room.maxUsers).toBe(30);
    expect(await nobody.ask('room:join', { code: room.code })).toMatchObject({
      error: { code: 'FORBIDDEN', message: 'Lessons are for those with a name.' },
    });
  });
});

test('the example of events', async () => {
  await play('events', async (url, line) => {
    await using ann = await connectClient(url, { name: 'Ann' });
    const { code, ref } = (await ann.must('room:create')).room;
    await line(new RegExp(`^hook 0 room_created ${ref}$`));
    await line(new RegExp(`^hook 1 user_joined ${ref}$`));
    await line(new RegExp(`^Ann is in ${code}$`));
  });
});

test('the page names existing events and existing pages', () => {
  for (const type of FEED_TYPES) expect(page).toContain(`\`${type}\``);
  for (const [, path = ''] of page.matchAll(/\]\((?!http)([^)#]+)\)/g))
    expect(existsSync(join(root, 'docs', path))).toBe(true);
});
