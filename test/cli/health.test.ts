/** `signalbox health` finds the server that the same options start. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { askHealth } from '../../src/cli/health.ts';
import { freePort } from '../support/process.ts';
import { runSignalbox, startSignalbox } from '../support/signalbox.ts';

const ALIVE = { ready: false, timeoutMs: 10_000 };

test('exits with 0 for a server that is alive and ready, by variables and by flags of serve, and with 1 when it has ended', async () => {
  await using server = await startSignalbox();
  const port = String(server.port);
  const byVariables = {
    SIGNALBOX_PORT: port,
    PORT: '1',
    HOST: '127.0.0.1',
    SIGNALBOX_SECRET_FILE: '/removed/after/start',
  };
  const alive = await runSignalbox(['health'], byVariables);
  expect(alive).toEqual({ code: 0, stdout: `ok: http://127.0.0.1:${port}/healthz\n`, stderr: '' });
  const ready = await runSignalbox([
    'health',
    '--ready',
    '--port',
    port,
    '--grace-ms',
    '5s',
    '--demo',
    '--timeout-ms',
    '10s',
  ]);
  expect(ready).toMatchObject({ code: 0, stdout: expect.stringContaining('/readyz') });
  await server.child.stop();
  const ended = await runSignalbox(['health'], byVariables);
  expect(ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^signalbox: http:.* did not answer .*\n$/),
  });
});

test.each([
  ['--port', 'http'],
  ['--port', '0'],
  ['--port', '70000'],
  ['--timeout-ms', '0'],
  ['--timeout-ms', 'soon'],
  ['--prot', '1'],
])('exits with 2 for %s %s', async (flag, text) => {
  expect(await runSignalbox(['health', flag, text])).toMatchObject({ code: 2, stdout: '' });
});

test('exits with 2 for a misspelt variable, and passes over those of Kubernetes', async () => {
  const misspelt = await runSignalbox(['health'], { SIGNALBOX_PROT: '1' });
  expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('SIGNALBOX_PORT?') });
  const port = String(await freePort());
  const kubernetes = { SIGNALBOX_SERVICE_HOST: '10.0.0.1', SIGNALBOX_PORT: 'tcp://10.0.0.1:3000', PORT: port };
  const { code, stderr } = await runSignalbox(['health'], kubernetes);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`:${port}/healthz`)]);
});

describe('the address that is asked follows from the host', () => {
  const own = Object.values(networkInterfaces())
    .flatMap((found) => found ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

  test.each([
    '0.0.0.0',
    '127.0.0.1',
    'localhost',
    '::',
    '0:0:0:0:0:0:0:0',
    '::1',
    '::ffff:0.0.0.0',
    own ?? '127.0.0.1',
  ])('%s', async (host) => {
    await using server = await answering(host, (_request, response) => response.end('{"ok":true}'));
    await expect(askHealth({ host, port: server.port }, ALIVE)).resolves.toContain(`:${server.port}/healthz`);
  });

  test('and one address of "all addresses" is enough', async () => {
    await using server = await answering('127.0.0.1', (_request, response) => response.end('{"ok":true}'));
    await expect(askHealth({ host: '::', port: server.port }, ALIVE)).resolves.toContain('127.0.0.1');
  });
});

test.each<[string, RequestListener, RegExp]>([
  ['a server that drains', (_request, response) => response.writeHead(503).end('{}'), /answered 503/],
  ['another program', (_request, response) => response.end('<html>'), /another program/],
  ['an endless answer', (_request, response) => void response.end('x'.repeat(200_000)), /more than/],
  ['a silent server', () => {}, /within 50 ms/],
  ['a server that stops in its answer', (_request, response) => void response.write('{'), /within 50 ms/],
  ['a server that hangs up', (request) => void request.socket.destroy(), /did not answer \(/],
])('%s is not healthy', async (what, listener, says) => {
  await using server = await answering('127.0.0.1', listener);
  const timeoutMs = what.includes('silent') || what.includes('stops') ? 50 : 10_000;
  await expect(askHealth({ host: '127.0.0.1', port: server.port }, { ready: false, timeoutMs })).rejects.toThrow(says);
});

async function answering(
  host: string,
  listener: RequestListener,
): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer(listener);
  await new Promise<void>((resolve, reject) => void server.once('error', reject).listen(0, host, resolve));
  return {
    port: (server.address() as AddressInfo).port, // it listens on TCP
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
