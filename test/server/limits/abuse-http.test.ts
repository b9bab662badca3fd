/** Time-outs for slow connections, and refusals of malformed headers. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { RawSocket, SOCKET_PATH } from '../../support/raw-socket.ts';
import { expectAlive, startAttackTarget } from './attack-harness.ts';

const CONNECT_MS = 400;
const HEADERS_MS = 1000;
/** Node looks for late headers once a second; the machine may be busy. */
const LATEST_MS = HEADERS_MS + 6000;

const target = startAttackTarget({
  connectTimeoutMs: CONNECT_MS,
  headersTimeoutMs: HEADERS_MS,
  trustedProxies: ['127.0.0.1'],
  pingIntervalMs: 500,
  pingTimeoutMs: 3000,
});

async function dial(): Promise<Socket> {
  const tcp = connect({ port: target.port, host: '127.0.0.1' });
  tcp.on('error', () => {}); // `close` follows
  await once(tcp, 'connect');
  return tcp;
}

/** Not `once` of node:events, which rejects on an error. */
const closeOf = (tcp: Socket) =>
  new Promise<void>((resolve) => {
    if (tcp.destroyed) resolve();
    else tcp.once('close', () => resolve());
  });

/** Time until the server closes the connection. */
async function msUntilClosed(tcp: Socket): Promise<number> {
  const from = performance.now();
  tcp.resume();
  await closeOf(tcp);
  return performance.now() - from;
}

describe('a slow connection', () => {
  test('that sends nothing after its handshake is closed', async () => {
    const from = performance.now();
    await using silent = await RawSocket.open(target.port);
    await silent.end();
    const took = performance.now() - from;
    expect(took).toBeGreaterThan(CONNECT_MS - 50);
    expect(took).toBeLessThan(CONNECT_MS + 3000);
  });

  test('is closed among a hundred, and a refused handshake is closed as well', async () => {
    const silent = await Promise.all(Array.from({ length: 100 }, () => RawSocket.open(target.port)));
    for (const socket of silent.slice(50)) socket.send('40{"v":99}');
    await Promise.all(silent.map((socket) => socket.end()));
  });

  test('that answers no ping is closed', async () => {
    await using mute = await RawSocket.join(target.port);
    mute.answersPings = false;
    await mute.end();
  });

  test('that sends nothing, half a line, or headers byte by byte is closed', async () => {
    const [nothing, half, drops] = await Promise.all([dial(), dial(), dial()]);
    half.write('GET / HT');
    drops.write('GET / HTTP/1.1\r\nHost: x\r\n');
    const drip = setInterval(() => drops.write('X-Slow: 1\r\n'), 100);
    const took = await Promise.all([nothing, half, drops].map(msUntilClosed)).finally(() => clearInterval(drip));
    for (const ms of took) {
      expect(ms).toBeGreaterThan(HEADERS_MS / 2);
      expect(ms).toBeLessThan(LATEST_MS);
    }
  });

  test('that sends a body byte by byte is closed', async () => {
    const slow = await dial();
    slow.write(
      'POST /v1/rooms HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{',
    );
    const drip = setInterval(() => slow.write(' '), 100);
    expect(await msUntilClosed(slow).finally(() => clearInterval(drip))).toBeLessThan(LATEST_MS);
  });
});

const upgrade = (path = SOCKET_PATH, more: readonly string[] = []) =>
  [
    `GET ${path} HTTP/1.1`,
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ...more,
    '\r\n',
  ].join('\r\n');

describe('malformed', () => {
  test.each([
    ['a protocol other than HTTP', '\u0016\u0003\u0001\u0002\u0000\r\n\r\n'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a request without Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['headers of 100 KB', `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['two content lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['an invalid chunk', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    [
      'an upgrade to an unknown protocol',
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: nothing\r\n\r\n',
    ],
    ['an upgrade at another path', upgrade('/elsewhere')],
    ['an unknown transport', upgrade('/socket.io/?EIO=4&transport=pigeon')],
    ['an old protocol', upgrade('/socket.io/?EIO=3&transport=websocket')],
    ['an unknown session', upgrade('/socket.io/?EIO=4&transport=websocket&sid=nobody')],
    [
      'polling, which is off',
      'GET /socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ],
    ['an invalid key', upgrade().replace('AAAA', '')],
    ['an ancient version', upgrade().replace('Version: 13', 'Version: 1')],
  ])('%s ends the connection', async (_, text) => {
    const tcp = await dial();
    tcp.write(text, 'latin1');
    expect(await msUntilClosed(tcp)).toBeLessThan(LATEST_MS);
  });

  test.each([
    '/%zz',
    '/..%2f..%2fetc/passwd',
    '/%00',
    '//evil.example',
    '/v1/pool',
    '/v1/pool?x[__proto__]=1',
    '/__proto__',
  ])('%s is answered as a problem', async (path) => {
    const tcp = await dial();
    let reply = '';
    tcp.on('data', (chunk) => {
      reply += chunk.toString();
    });
    tcp.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await once(tcp, 'close');
    expect(reply).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(reply).toContain('application/problem+json');
  });

  test.each([
    ['an invalid address', 'not an address'],
    ['an invalid address after a valid one', '203.0.113.9, not an address'],
    ['numbers that are too large', '999.999.999.999'],
    ['colons', '::::'],
    ['thousands of digits', '1'.repeat(8000)],
    ['thousands of commas', ','.repeat(8000)],
    ['bytes that are not text', '\u00ff\u00fe'],
    ['the name __proto__', '__proto__'],
    ['an empty value', ''],
  ])('a connection with X-Forwarded-For works: %s', async (_, value) => {
    await using client = await RawSocket.join(target.port, { 'X-Forwarded-For': value });
    expect(await client.ask('room:join', { code: '999999' })).toMatchObject({ error: { code: 'ROOM_NOT_FOUND' } });
    await expectAlive(client);
  });
});
