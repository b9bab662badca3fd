/** Requests that a filter in front may read differently than this server, and refusals that Node makes by itself. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServer, type SignalboxServer } from '../../../src/index.ts';
import { silentLog } from '../../../src/support/log.ts';
import { RawSocket, SOCKET_PATH } from '../../support/raw-socket.ts';

const TOKEN = 'the-operator-of-these-tests';
const AUTHORIZED = `Authorization: Bearer ${TOKEN}`;

let server: SignalboxServer;
beforeAll(async () => {
  const options = { host: '127.0.0.1', port: 0, adminToken: TOKEN, headersTimeoutMs: 500 };
  server = await createServer(options, { log: silentLog });
});
afterAll(() => server.close());

/** Everything that the server says until it closes the connection. */
function answerTo(head: string, end = '\r\n\r\n'): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  socket.write(`${head}${end}`, 'latin1');
  return text(socket);
}

/** The status of an answer that is one whole problem, with its own length. */
function statusOfProblem(answer: string): number {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(/^content-type: application\/problem\+json/im);
  const problem = JSON.parse(body);
  expect(head).toContain(`HTTP/1.1 ${problem.status} `);
  expect(problem).toMatchObject({ type: 'about:blank', title: expect.any(String), code: expect.any(String) });
  expect(head.toLowerCase()).toContain(`content-length: ${Buffer.byteLength(body)}`);
  return problem.status;
}

test.each([
  '/%76%31/rooms',
  '/v%31/rooms',
  '/v1/%72ooms',
  '/v1/r%6Foms',
  '/v1/r%6foms?limit=1',
  '/v1/rooms%2E',
  '/%2e%2e/v1/rooms',
  '/v1%2d/rooms',
  '/v1/room%7E',
  '/v1/room%5F',
  '/v1/rooms/1%32%33456',
  '/%64ocs/json',
  '/v1/rooms#x',
  '/v1\\rooms',
  'http://any/v1/rooms',
  'http://any:x/v1/rooms',
  'HTTP://x/v1/rooms',
  'https://x:443/v1/rooms',
  'ws://x/v1/rooms',
  '*',
  'v1/rooms',
])('the target %s is refused', async (target) => {
  const answer = await answerTo(`GET ${target} HTTP/1.1\r\nHost: x\r\n${AUTHORIZED}`);
  expect(statusOfProblem(answer)).toBe(400);
});

test.each([
  ['/v1%2Frooms', 404],
  ['/v1/./rooms', 404],
  ['//v1/rooms', 404],
  ['/V1/rooms', 404],
  ['/v1/rooms;x', 404],
  ['/docs/static', 404],
  ['/docs/static/', 404],
  ['/docs/static/index.html', 404],
  ['/docs/static/oauth2-redirect.html', 404],
  ['/docs/static/..%2fpackage.json', 404],
  ['/assets/', 404],
  ['/v1/rooms?name=%41', 200],
])('the target %s is answered with %i', async (target, status) => {
  const answer = await answerTo(`GET ${target} HTTP/1.1\r\nHost: x\r\n${AUTHORIZED}\r\nConnection: close`);
  if (status === 404) expect(statusOfProblem(answer)).toBe(404);
  else expect(answer).toMatch(/^HTTP\/1\.1 (200|422) /);
});

test.each([
  ['two Host headers', 'GET /v1/rooms HTTP/1.1\r\nHost: x\r\nhost: y', 400],
  ['the same Host twice', 'GET /v1/rooms HTTP/1.1\r\nHost: x\r\nHost: x', 400],
  ['two Host headers in HTTP/1.0', 'GET /v1/rooms HTTP/1.0\r\nHost: x\r\nHost: y', 400],
  ['no Host', 'GET /v1/rooms HTTP/1.1', 400],
  ['two tokens', `GET /v1/rooms HTTP/1.1\r\nHost: x\r\n${AUTHORIZED}\r\nAuthorization: Bearer other`, 400],
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x', 400],
  ['a method without a route', 'PROPFIND / HTTP/1.1\r\nHost: x\r\nConnection: close', 404],
  ['another protocol', '\u0016\u0003\u0001\u0002\u0000', 400],
  ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(100_000)}`, 431],
  ['an expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: 200-maybe', 417],
  ['a malformed chunk', 'POST /v1/rooms HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz', 400],
])('%s: the refusal is a problem', async (_, head, status) => {
  expect(statusOfProblem(await answerTo(head))).toBe(status);
});

test('a head that comes too slowly is refused with a problem', async () => {
  expect(statusOfProblem(await answerTo('GET / HTTP/1.1\r\nHost: x', '\r\n'))).toBe(408);
});

test('a body that comes too slowly is refused with a problem', async () => {
  const head = `POST /v1/rooms HTTP/1.1\r\nHost: x\r\n${AUTHORIZED}\r\nContent-Type: application/json\r\nContent-Length: 9`;
  expect(statusOfProblem(await answerTo(head, '\r\n\r\n{'))).toBe(408);
});

test('HTTP/1.0 needs no Host', async () => {
  expect(await answerTo('GET /healthz HTTP/1.0')).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ['two Host headers', { host: 'evil.example' }, SOCKET_PATH],
  ['two tokens', { Authorization: 'a', authorization: 'b' }, SOCKET_PATH],
])('a handshake with %s is refused', async (_, headers, path) => {
  await expect(RawSocket.open(server.port, headers, path)).rejects.toThrow('refused with 400');
});

test.each(['9007199254740991', '9007199254740993', '99999999999999999999'])(
  'the acknowledgement id %s is echoed as it came, although no number holds it',
  async (id) => {
    await using socket = await RawSocket.join(server.port);
    socket.send(`42${id}["room:get"]`);
    await socket.next(new RegExp(`^43${id}\\[`));
  },
);

test('the demo page names the devices that it may ask for, and no other site gets them', async () => {
  const page = await fetch(server.url);
  const policy = page.headers.get('permissions-policy')?.split(', ') ?? [];
  for (const feature of ['camera', 'microphone', 'display-capture']) expect(policy).toContain(`${feature}=(self)`);
  expect(policy).toContain('geolocation=()');
});

test('a file that a client has is not sent again', async () => {
  for (const path of ['/', '/signalbox.js', '/docs/static/index.css']) {
    const first = await fetch(server.url + path);
    const etag = first.headers.get('etag') ?? expect.unreachable();
    for (const given of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await fetch(server.url + path, { headers: { 'if-none-match': given } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    expect((await fetch(server.url + path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  }
});

test('a connection that idles for longer than a request may take is kept', async () => {
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  const ask = () =>
    new Promise((resolve) => socket.once('data', resolve).write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'));
  expect(String(await ask())).toMatch(/keep-alive: timeout=72/i);
  // Node looks for late requests once a second: this one is late, and the idle connection is still there.
  expect(await answerTo('GET / HTTP/1.1', '\r\n')).toMatch(/^HTTP\/1\.1 408 /);
  expect(String(await ask())).toMatch(/^HTTP\/1\.1 200 /);
  socket.destroy();
});
