import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { startNginx } from '../support/nginx.ts';
import { freePort } from '../support/process.ts';

test('a node gets the headers of the browser, and the address that nginx saw', async () => {
  await using node = await startNode('one');
  await using nginx = await startNginx({ upstreams: [node.address] });
  const headers = { origin: 'https://example.org', 'x-forwarded-for': '203.0.113.7' };
  await fetch(`${nginx.url}/readyz?x=1`, { headers });
  const seen = node.requests[0];
  expect(seen?.url).toBe('/readyz?x=1');
  expect(seen?.headers).toMatchObject({
    host: `127.0.0.1:${nginx.port}`,
    origin: 'https://example.org',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
  });
});

test('a WebSocket is upgraded, and carries bytes both ways at once', async () => {
  await using node = await startNode('one');
  await using nginx = await startNginx({ upstreams: [node.address] });
  await using connection = await upgrade(nginx.url);
  expect(connection.answer.statusCode).toBe(101);
  expect(node.requests[0]?.headers).toMatchObject({ upgrade: 'websocket', connection: 'upgrade' });
  connection.socket.write('hello');
  expect(await connection.read()).toBe('one: hello');
});

test('long connections are spread over the nodes, whatever short requests come between', async () => {
  await using one = await startNode('one');
  await using two = await startNode('two');
  await using nginx = await startNginx({ upstreams: [one.address, two.address] });
  await using first = await upgrade(nginx.url);
  for (let i = 0; i < 3; i++) await fetch(nginx.url);
  await using second = await upgrade(nginx.url);
  expect(new Set([first.node, second.node])).toEqual(new Set(['one', 'two']));
});

test('nginx skips a node that is gone', async () => {
  await using node = await startNode('alive');
  await using nginx = await startNginx({ upstreams: [`127.0.0.1:${await freePort()}`, node.address] });
  for (let i = 0; i < 4; i++) {
    await using connection = await upgrade(nginx.url);
    expect(connection.node).toBe('alive');
    expect((await fetch(nginx.url, { method: 'POST', body: '{}' })).status).toBe(200);
  }
});

test('nginx answers with an error at once when no node is left', async () => {
  await using nginx = await startNginx({ upstreams: [`127.0.0.1:${await freePort()}`] });
  expect((await fetch(nginx.url)).status).toBe(502);
});

test('nginx refuses a body that is larger than any request needs', async () => {
  await using node = await startNode('one');
  await using nginx = await startNginx({ upstreams: [node.address] });
  const answer = await fetch(nginx.url, { method: 'POST', body: 'x'.repeat(200_000) });
  expect(answer.status).toBe(413);
  expect(node.requests).toEqual([]);
});

interface Node extends AsyncDisposable {
  readonly address: string;
  readonly requests: readonly IncomingMessage[];
}

/** Stands in for a Signalbox node: answers with its name, and echoes what comes over an upgraded connection. */
async function startNode(name: string): Promise<Node> {
  const requests: IncomingMessage[] = [];
  const server = createServer((incoming, response) => {
    requests.push(incoming);
    incoming.resume();
    response.end(name);
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex) => {
    requests.push(incoming);
    socket.on('error', () => socket.destroy());
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\nNode: ${name}\r\n\r\n`,
    );
    socket.on('data', (chunk: Buffer) => socket.write(`${name}: ${chunk.toString()}`));
    socket.on('end', () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has no other kind of address
  return {
    address: `127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Upgraded extends AsyncDisposable {
  readonly answer: IncomingMessage;
  readonly node: unknown;
  readonly socket: Duplex;
  read(): Promise<string>;
}

function upgrade(url: string): Promise<Upgraded> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers: { connection: 'Upgrade', upgrade: 'websocket' } });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => reject(new Error(`not upgraded: ${response.statusCode}`)));
    outgoing.once('upgrade', (answer, socket) => {
      const { node } = answer.headers;
      resolve({
        answer,
        node,
        socket,
        read: () => new Promise((received) => socket.once('data', (chunk: Buffer) => received(chunk.toString()))),
        [Symbol.asyncDispose]: async () => void socket.destroy(),
      });
    });
    outgoing.end();
  });
}
