/** Every example of `docs/client.md`, and the room of the README, run unchanged. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import type { Client } from '../../src/client/index.ts';
import { createServer, type SignalboxServer } from '../../src/index.ts';
import { launchBrowser, type Person, type TestBrowser } from '../support/browser.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';
import { snippetsOf } from './snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE = { timeout: 30_000 };

let server: SignalboxServer;
let browser: TestBrowser;
let snippets: ReadonlyMap<string, string>;
let site: PageServer;

beforeAll(async () => {
  server = await createServer({ host: '127.0.0.1', port: 0, demo: false, graceMs: 4_000, tickMs: 500 });
  browser = await launchBrowser();
  snippets = await snippetsOf('docs/client.md', url());
  site = await startPageServer();
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
  await server?.close();
});

const url = (): string => `http://localhost:${server.port}`;

/** The examples that this file plays. */
const PLAYED = ['nine-lines', 'rooms', 'errors', 'store', 'mesh', 'react', 'node'];

test('every example of the page is run by a test', () => {
  expect([...snippets.keys()]).toEqual(PLAYED);
});

test('the README has the same example, in less than ten lines', async () => {
  const readme = await snippetsOf('README.md', url());
  expect(readme.get('nine-lines')).toBe(snippets.get('nine-lines'));
  const [, script = ''] = /<script type="module">\n(.*?)<\/script>/s.exec(snippets.get('nine-lines') ?? '') ?? [];
  expect(script.trim().split('\n').length).toBeLessThan(10);
});

test('the first example: two pages meet by the address, a refreshed one comes back, a closed one disappears', async () => {
  await using ann = await open('nine-lines');
  await expect.poll(() => ann.page.evaluate<string>('location.hash'), PATIENCE).toMatch(/^#\d{6}$/);
  await using bob = await open('nine-lines', await ann.page.evaluate<string>('location.hash'));
  await Promise.all([playsVideo(ann), playsVideo(bob)]);
  await ann.page.reload();
  await Promise.all([playsVideo(ann), playsVideo(bob)]);
  await bob.page.goto('about:blank');
  await expect.poll(() => ann.page.locator('video').count(), PATIENCE).toBe(0);
  expect(ann.complaints).toEqual([]);
});

test('the example of rooms prints the events', async () => {
  await using ann = await open('rooms');
  const code = await ann.said(/^the others type (\d{6})$/);
  await using bob = client('Bob');
  const room = await bob.join(code);
  await ann.said(/^Bob is here$/);
  await room.message({ text: 'Hello too' });
  await ann.said(/^they said/);
  await room.leave();
  await ann.said(/^Bob: left$/);
  expect(ann.lines).toEqual(expect.arrayContaining(['online', 'I said {text: Hello}']));
});

test('the example of errors has words for each error', async () => {
  await using ann = client('Ann');
  const room = await ann.create();
  await using bob = await open('errors', '', { answers: room.code });
  await bob.said(/^in a room of 2$/);
  const { code } = await ann.create();
  await ann.room?.close();
  await using carl = await open('errors', '', { answers: code });
  await carl.said(/^No room has this code\.$/);
});

test('the example of the store takes the seat again', async () => {
  await using ann = await open('store');
  await ann.said(/^true replaced$/);
});

test('the example of the mesh sends media, a screen and data, and shows figures', async () => {
  await using host = client('Host');
  const { code } = await host.create();
  await using ann = await open('mesh', `#${code}`);
  await using bob = await open('mesh', `#${code}`);
  await Promise.all([playsVideo(ann), playsVideo(bob)]);
  await ann.said(/^Ann connected /);
  await ann.page.evaluate(CANVAS_FOR_SCREEN);
  await ann.page.getByRole('button').click();
  await bob.said(/^Ann connected shares a screen$/);
  await ann.said(/^Ann [\d.]+ \d{3,} [\d.]+ direct$/);
});

test('the React component plays every member', async () => {
  await using host = client('Host');
  const { code } = await host.create();
  await using folder = await scratch();
  await writeFile(join(folder.path, 'call.jsx'), snippets.get('react') ?? '');
  await writeFile(
    join(folder.path, 'main.jsx'),
    `import { createRoot } from 'react-dom/client';
     import { Call } from './call.jsx';
     const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: true });
     createRoot(document.body.appendChild(document.createElement('main'))).render(
       <Call url="${url()}" code={location.hash.slice(1)} stream={stream} />);`,
  );
  site.put('/react.js', await bundle(join(folder.path, 'main.jsx')));
  await using ann = await open('react', `#${code}`);
  await using bob = await open('react', `#${code}`);
  await Promise.all([playsVideo(ann), playsVideo(bob)]);
  expect(ann.complaints).toEqual([]);
});

test('the example for Node sends a message, and ends by itself', async () => {
  await using folder = await scratch();
  const path = join(folder.path, 'bot.mjs');
  await writeFile(path, snippets.get('node') ?? '');
  const { stdout } = await promisify(execFile)(process.execPath, [path], { timeout: 30_000 });
  expect(stdout.trim()).toBe('online 1');
});

interface Visitor extends Person {
  /** Everything on its console. */
  readonly lines: readonly string[];
  /** Waits for such a line. @returns its first group. */
  said(line: RegExp): Promise<string>;
}

/** Opens an example as a page of its own, on another origin than the server's. */
async function open(name: string, hash = '', { answers = '' } = {}): Promise<Visitor> {
  const code = snippets.get(name) ?? '';
  if (name !== 'react') site.put(`/${name}.js`, code);
  const body = code.includes('<script')
    ? code
    : `<!doctype html><script type="importmap">{"imports":{"signalbox/client":"${url()}/signalbox.js"}}</script>
       <script type="module" src="/${name}.js"></script>`;
  site.put(`/${name}`, body);
  const person = await browser.person('about:blank');
  const lines: string[] = [];
  person.page.on('console', (message) => lines.push(message.text()));
  person.page.on('dialog', (dialog) => void dialog.accept(answers));
  await person.page.goto(`${site.origin}/${name}${hash}`);
  const find = (line: RegExp): RegExpExecArray | undefined =>
    lines.map((text) => line.exec(text)).find((found) => found !== null) ?? undefined;
  return {
    ...person,
    lines,
    said: async (line) => {
      await expect
        .poll(() => find(line) !== undefined, { ...PATIENCE, message: `${line} in ${lines.join('\n')}` })
        .toBe(true);
      return find(line)?.[1] ?? '';
    },
    [Symbol.asyncDispose]: () => person.context.close(),
  };
}

/** Another one in the room, without a page. */
function client(name: string): Client & AsyncDisposable {
  const one = connect(url(), { name });
  return Object.assign(one, { [Symbol.asyncDispose]: () => one.close() });
}

/** A picture that comes from somebody else moves on the page. */
async function playsVideo({ page }: Person): Promise<void> {
  const time = (): Promise<number> =>
    page.evaluate<number>('Math.max(0, ...[...document.querySelectorAll("video")].map((video) => video.currentTime))');
  const before = await time();
  await expect.poll(time, PATIENCE).toBeGreaterThan(before === 0 ? 0 : before + 0.2);
}

/** A screen to share without anybody who chooses one. */
const CANVAS_FOR_SCREEN = `
  const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 200 });
  const context = canvas.getContext('2d');
  setInterval(() => context.fillRect(Math.random() * 300, 0, 20, 200), 100);
  navigator.mediaDevices.getDisplayMedia = async () => canvas.captureStream(10);`;

/** Inside the repository, so that the packages that it imports are found. */
async function scratch() {
  const path = await mkdtemp(join(root, 'dist.example-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function bundle(entry: string): Promise<string> {
  const result = await build({
    root,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, modulePreload: false, rolldownOptions: { input: entry, external: ['signalbox/client'] } },
  });
  const [output] = 'output' in result ? result.output : [];
  if (output?.type !== 'chunk') throw new Error('nothing was built');
  return output.code;
}

test('every exported name of the SDK is documented', async () => {
  const typedoc = join(root, 'node_modules/typedoc/bin/typedoc');
  // A word without an explanation is a warning, and there may be none.
  await promisify(execFile)(process.execPath, [typedoc, '--emit', 'none'], { cwd: root, timeout: 100_000 });
});
