/**
 * What an answer takes, it gives back: descriptors, timers and listeners are counted before and after requests of every
 * route, however their client behaves. The routes are the list of the app itself, so a new one is covered.
 */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMemoryEngine } from '../../../src/engine/memory.ts';
import type { Call, CallRecords } from '../../../src/records/port.ts';
import { type ComposedServer, composeServer } from '../../../src/server/compose.ts';
import type { ServerDependencies } from '../../../src/server/dependencies.ts';
import { listen } from '../../../src/server/hosting/listen.ts';
import { EXAMPLES } from '../../../src/server/http/api/examples.ts';
import { createMemoryQueue } from '../../../src/webhooks/queue/memory.ts';
import { PATIENCE_MS } from '../../support/patience-ms.ts';

const TOKEN = 'the-operator-of-these-tests';
const PIPELINED = 12;

/** Exports that were begun and not ended. */
let openExports = 0;

const records: CallRecords = {
  description: 'calls of these tests, without an end',
  lost: async () => ({ events: 0, signals: 0 }),
  find: async () => undefined,
  list: async () => ({ calls: [], cursor: null }),
  async *export() {
    openExports += 1;
    const calls: readonly Call[] = Array.from({ length: 100 }, () => EXAMPLES.callRecord);
    try {
      while (true) yield { calls, more: false };
    } finally {
      openExports -= 1;
    }
  },
  countSignals: () => {},
  health: () => ({ state: 'up', since: 0 }),
  close: async () => {},
};

const dependencies: ServerDependencies = {
  engine: (settings) => createMemoryEngine(settings),
  webhookQueue: (engine, clock) => createMemoryQueue(engine.feed, clock),
  calls: () => records,
};

let server: ComposedServer;
let port: number;

beforeAll(async () => {
  const options = { host: '127.0.0.1', port: 0, adminToken: TOKEN, apiPerMinute: 10_000_000, drainMs: 100 };
  server = await composeServer(options, dependencies);
  ({ port } = await listen(server.app, server.signalbox.options));
});
afterAll(() => server.signalbox.close());

/** A path of each route, with something in the place of its parameters. */
function paths(): { method: string; path: string }[] {
  const files = ['swagger-ui-bundle.js', 'index.css', '..%2fpackage.json', ''];
  const all = server.routes.flatMap(({ method, url }) =>
    [method].flat().flatMap((single) => {
      const path = url.replaceAll(/:(\w+)/g, 'any');
      return path.endsWith('*')
        ? files.map((file) => ({ method: single, path: path.replace('*', file) }))
        : [{ method: single, path }];
    }),
  );
  const more = [
    '/v1/calls?format=csv',
    '/v1/calls?format=ndjson',
    '/socket.io/?EIO=4&transport=polling',
    '/nowhere',
    '/docs/static',
    '/%zz',
  ];
  return [...all, ...more.flatMap((path) => ['GET', 'HEAD'].map((method) => ({ method, path })))];
}

const descriptors = (): number => readdirSync('/proc/self/fd').length;
const connections = (): Promise<number> =>
  new Promise((resolve, reject) => {
    server.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });

/** Things of this process that an answer may leave behind. */
const taken = async () => ({
  descriptors: descriptors(),
  connections: await connections(),
  timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
  listeners: server.app.server.eventNames().reduce((sum, name) => sum + server.app.server.listenerCount(name), 0),
  openExports,
});

async function dial(): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {}); // `close` follows
  await once(socket, 'connect');
  return socket;
}

const requestOf = (method: string, path: string, version = '1.1', more = '') =>
  `${method} ${path} HTTP/${version}\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n${more}\r\n`;

/** How a client treats its connection, after it has asked for a path. */
const CLIENTS: Readonly<Record<string, (socket: Socket, method: string, path: string) => Promise<unknown>>> = {
  async 'pipelines and goes away at once'(socket, method, path) {
    socket.write(requestOf(method, path).repeat(PIPELINED), () => socket.destroy());
    await once(socket, 'close');
  },
  async 'pipelines, does not read, and goes away when the first bytes are there'(socket, method, path) {
    socket.write(requestOf(method, path).repeat(PIPELINED));
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
    socket.destroy();
  },
  async 'pipelines, half-closes and goes away in the middle'(socket, method, path) {
    socket.end(requestOf(method, path).repeat(PIPELINED));
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
    socket.destroy();
  },
  async 'speaks HTTP/1.0 and asks for a range'(socket, method, path) {
    socket.write(requestOf(method, path, '1.0', 'Range: bytes=1-2\r\n'));
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
    socket.destroy();
  },
  async 'resets its connection in the middle of the answer'(socket, method, path) {
    socket.write(requestOf(method, path).repeat(2));
    await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
    socket.resetAndDestroy();
  },
};

test.each(Object.keys(CLIENTS))('no route keeps anything of a client that %s', async (name) => {
  const client = CLIENTS[name] ?? expect.unreachable();
  const before = await taken();
  await Promise.all(
    paths().map(async ({ method, path }) => {
      const socket = await dial();
      await client(socket, method, path);
      socket.destroy();
    }),
  );
  await expect
    .poll(taken, { timeout: PATIENCE_MS, interval: 20 })
    .toEqual({ ...before, timers: expect.any(Number), descriptors: expect.any(Number) });
  await expect
    .poll(async () => (await taken()).descriptors, { timeout: PATIENCE_MS })
    .toBeLessThanOrEqual(before.descriptors);
  await expect.poll(async () => (await taken()).timers, { timeout: PATIENCE_MS }).toBeLessThanOrEqual(before.timers);
});

test('files of the demo and of the documentation are opened for no request', async () => {
  const files = paths().filter(({ path }) => /^\/(assets|docs\/static)\/.+\.(js|css)$/.test(path));
  expect(files.length).toBeGreaterThanOrEqual(4);
  const before = descriptors();
  const sockets = await Promise.all(Array.from({ length: 10 }, dial));
  for (const socket of sockets) {
    socket.pause();
    socket.write(
      files
        .map(({ path }) => requestOf('GET', path))
        .join('')
        .repeat(PIPELINED),
    );
  }
  // Both ends of a connection are in this process.
  await expect.poll(connections, { timeout: PATIENCE_MS }).toBe(10);
  await Promise.all(sockets.map((socket) => once(socket, 'readable')));
  expect(descriptors() - before).toBeLessThanOrEqual(20);
  for (const socket of sockets) socket.destroy();
  await expect.poll(descriptors, { timeout: PATIENCE_MS }).toBeLessThanOrEqual(before);
});

test('a connection is ended after a thousand requests, with an answer that says so', async () => {
  const socket = await dial();
  let answers = '';
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      answers += chunk.toString();
      if (/^connection: close\r$/im.test(answers)) resolve();
    });
  });
  socket.write(requestOf('HEAD', '/healthz').repeat(1000));
  await ended;
  socket.destroy();
  expect(answers.match(/^HTTP\/1\.1 200 /gm)).toHaveLength(1000);
});
