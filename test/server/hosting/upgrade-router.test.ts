/** Foreign upgrades: they reach other listeners, and an offer without a listener stays an ordinary request. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createServer } from '../../../src/index.ts';
import { connectClient } from '../../support/client.ts';
import { RawSocket } from '../../support/raw-socket.ts';
import { startHttpHost } from './http-host.ts';

test('another listener for upgrades keeps its path before, during and after', async () => {
  await using host = await startHttpHost();
  let upgrades = 0;
  host.server.on('upgrade', ({ url }, socket) => {
    if (url !== '/own') return;
    upgrades += 1;
    // The other listener answers asynchronously.
    setImmediate(() =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    );
  });
  const knock = async () => (await RawSocket.open(host.port, {}, '/own'))[Symbol.asyncDispose]();
  await knock();
  const signalbox = await createServer({}, { server: host.server });
  await using ann = await connectClient(host.url);
  await knock();
  await ann.must('room:create');
  await signalbox.close();
  await knock();
  expect(upgrades).toBe(3);
});

test('an offer of HTTP/2 to a server that is not embedded is answered as a request', async () => {
  const server = await createServer({ host: '127.0.0.1', port: 0, demo: false, nodeId: 'alone' });
  const { port, url } = server;
  const answer = await offer(`${url}/healthz`, 'GET');
  expect(JSON.parse(answer)).toEqual({ ok: true, nodeId: 'alone' });
  await expect(RawSocket.open(port, {}, '/nowhere')).rejects.toThrow('refused with 404');
  await using ann = await connectClient(url);
  await ann.must('room:create');
  await server.close();
});

/** The first request of Java's HTTP client. */
test.each(['GET', 'POST'])('an offer of HTTP/2 with a %s is answered as a plain request', async (method) => {
  await using host = await startHttpHost(async (request, response) => {
    const { url, headers } = request;
    response.end(JSON.stringify({ url, method: request.method, kind: headers['x-kind'], body: await text(request) }));
  });
  const signalbox = await createServer({}, { server: host.server });
  const body = method === 'POST' ? 'x'.repeat(200_000) : '';
  const answer = await offer(`${host.url}/own?a`, method, body);
  expect(JSON.parse(answer)).toEqual({ url: '/own?a', method, kind: 'Zug', body });
  await signalbox.close();
});

test('an upgrade to an unknown path is answered by the owner, and a silent connection ends with the server', async () => {
  await using host = await startHttpHost((_, response) => response.writeHead(404).end());
  const signalbox = await createServer({}, { server: host.server });
  await expect(RawSocket.open(host.port, {}, '/nowhere')).rejects.toThrow('refused with 404');
  const ended = new Promise<void>((resolve) => {
    host.server.once('connection', (socket) => socket.once('close', () => resolve()));
  });
  // This connection is upgraded, but it sends nothing and does not answer the close.
  await using mute = await RawSocket.open(host.port);
  await mute.next(/^0/);
  mute.stopReading();
  await signalbox.close();
  await ended;
  expect(host.server.listening).toBe(true);
});

async function offer(url: string, method: string, body = ''): Promise<string> {
  const offered = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAEAAEAA' };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest(url, { method, headers: { ...offered, 'x-kind': 'Zug' } }, resolve);
    request.once('error', reject);
    request.end(body);
  });
  return await text(response);
}
