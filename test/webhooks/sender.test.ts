/** One attempt to send an event, to receivers of every kind. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, isIP, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Resolve } from '../../src/webhooks/addresses.ts';
import type { SenderDeps, SendResult } from '../../src/webhooks/sender.ts';
import { keyOf } from '../../src/webhooks/signature.ts';
import { manualClock } from '../support/manual-clock.ts';
import { freePort, temporaryFolder } from '../support/process.ts';
import { flood, startHostile } from './hostile.ts';
import { answers, startReceiver } from './receiver.ts';
import { testSender } from './test-sender.ts';
import { verify } from './verify.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const MESSAGE = { id: 'ROM202600000042:7', body: '{"id":"ROM202600000042:7","name":"Ännchen"}' };

const KEYS = [keyOf(SECRET) ?? expect.unreachable()];
const senderTo = (url: string, deps: Partial<SenderDeps> = {}) => testSender(url, { keys: KEYS, ...deps });

test('an event is posted unchanged, with a signature', async () => {
  await using receiver = await startReceiver('/hooks?from=here');
  using sender = senderTo(receiver.url.replace('//', '//anna:p%40ss@'));
  expect(await sender.send(MESSAGE)).toEqual({ kind: 'delivered' });
  const [one] = receiver.received;
  expect(one).toMatchObject({ body: MESSAGE.body, path: '/hooks?from=here' });
  expect(one?.headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(MESSAGE.body)),
    'user-agent': 'Signalbox-Webhooks',
    'webhook-id': MESSAGE.id,
    authorization: `Basic ${Buffer.from('anna:p@ss').toString('base64')}`,
  });
  verify(SECRET, one?.headers ?? {}, one?.body ?? '');
});

test('events that are sent one after the other share a connection', async () => {
  const ports = new Set<number | undefined>();
  await using receiver = await startReceiver();
  receiver.behave((response) => {
    ports.add(response.socket?.remotePort);
    response.end('a few words');
  });
  using sender = senderTo(receiver.url);
  for (let time = 0; time < 5; time += 1) expect(await sender.send(MESSAGE)).toEqual({ kind: 'delivered' });
  expect(ports.size).toBe(1);
});

describe('a response', () => {
  test.each([
    [200, {}, { kind: 'delivered' }],
    [204, {}, { kind: 'delivered' }],
    [299, {}, { kind: 'delivered' }],
    [400, {}, { kind: 'failed', reason: 'answered 400' }],
    // It is the operator who takes an endpoint away, in the options: one wrong deployment must not cost events.
    [410, {}, { kind: 'failed', reason: 'answered 410' }],
    [429, { 'retry-after': '7' }, { kind: 'failed', reason: 'answered 429', retryAfterMs: 7_000 }],
    [500, {}, { kind: 'failed', reason: 'answered 500' }],
    [503, { 'retry-after': 'later' }, { kind: 'failed', reason: 'answered 503' }],
  ] as const)('of %i %j', async (status, headers, answer) => {
    await using receiver = await startReceiver();
    receiver.behave(answers(status, headers));
    using sender = senderTo(receiver.url);
    expect(await sender.send(MESSAGE)).toEqual(answer);
  });

  test.each([301, 302, 303, 307, 308])('%i is not followed', async (status) => {
    await using elsewhere = await startReceiver();
    await using receiver = await startReceiver();
    receiver.behave(answers(status, { location: elsewhere.url }));
    using sender = senderTo(receiver.url);
    const reason = `answered ${status}, and redirects are not followed`;
    expect(await sender.send(MESSAGE)).toMatchObject({ kind: 'failed', reason });
    expect(elsewhere.received).toEqual([]);
  });
});

describe('a receiver that', () => {
  const reasonOf = (answer: SendResult) => (answer.kind === 'failed' ? answer.reason : answer.kind);
  const head = 'HTTP/1.1 200 OK\r\n';
  const filler = 'x'.repeat(1024);

  test.each<[what: string, attack: (socket: Socket) => void, outcome: RegExp]>([
    ['answers garbage', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'), /^HPE_/],
    ['answers nothing', (socket) => socket.end(), /^ECONNRESET$/],
    ['resets the connection', (socket) => socket.resetAndDestroy(), /^ECONNRESET$/],
    ['sends a header without an end', (socket) => flood(socket, `${head}x: ${filler}`), /^HPE_HEADER_OVERFLOW$/],
    [
      'sends headers without an end',
      (socket) => {
        socket.write(head);
        flood(socket, `x: ${filler}\r\n`);
      },
      /^HPE_HEADER_OVERFLOW$/,
    ],
    [
      'sends a body without an end',
      (socket) => {
        socket.write(`${head}\r\n`);
        flood(socket, filler);
      },
      /^delivered$/,
    ],
    [
      'sends chunks without an end',
      (socket) => {
        socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
        flood(socket, `400\r\n${filler}\r\n`);
      },
      /^delivered$/,
    ],
    ['never ends its body', (socket) => socket.write(`${head}content-length: 9\r\n\r\nyes`), /^delivered$/],
    ['breaks off its body', (socket) => socket.end(`${head}content-length: 9\r\n\r\nyes`), /^delivered$/],
    ['answers before it has read', (socket) => socket.end(`${head}content-length: 0\r\n\r\n`), /^delivered$/],
    [
      'changes the protocol',
      (socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
      },
      /./,
    ],
    [
      'answers twice',
      (socket) => socket.end(`${head}content-length: 0\r\n\r\n${head}content-length: 0\r\n\r\n`),
      /^delivered$/,
    ],
  ])('%s costs its attempt', async (_what, attack, outcome) => {
    await using receiver = await startHostile(attack);
    using sender = senderTo(receiver.url);
    const answer = await sender.send(MESSAGE);
    expect(reasonOf(answer)).toMatch(outcome);
    if (answer.kind === 'failed') expect(answer.reason).not.toContain('127.0.0.1');
    sender.close();
    await receiver.closed();
  });

  test.each<[what: string, attack: (socket: Socket) => void]>([
    ['never responds', () => {}],
    ['sends endless informational responses', (socket) => flood(socket, 'HTTP/1.1 102 Processing\r\n\r\n')],
    ['sends half a response', (socket) => socket.write('HTTP/1.1 200 OK\r\nx: ')],
  ])('%s is aborted after the time-out', async (_what, attack) => {
    const clock = manualClock();
    await using receiver = await startHostile(attack);
    using sender = senderTo(receiver.url, { clock, timeoutMs: 10_000 });
    const answer = sender.send(MESSAGE);
    await receiver.asked;
    clock.advance(9_999);
    clock.advance(1);
    expect(await answer).toEqual({ kind: 'failed', reason: 'did not answer within 10000 ms' });
    await receiver.closed();
  });

  test('refuses connections fails with ECONNREFUSED', async () => {
    using sender = senderTo(`http://127.0.0.1:${await freePort()}/`);
    expect(reasonOf(await sender.send(MESSAGE))).toBe('ECONNREFUSED');
  });

  test('has a self-signed certificate receives nothing', async () => {
    await using folder = await temporaryFolder();
    const [key, cert] = [join(folder.path, 'key.pem'), join(folder.path, 'cert.pem')];
    const ask = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    execFileSync('openssl', [...ask, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' });
    let asked = 0;
    const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) => {
      asked += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // it listens on TCP
    using sender = senderTo(`https://localhost:${port}/`);
    expect(reasonOf(await sender.send(MESSAGE))).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(asked).toBe(0);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('an event is never sent to a private address', () => {
  const PRIVATE = { kind: 'failed', reason: 'the address is not a public one' };
  const strict = { allowPrivate: false };

  test.each(['http://127.0.0.1', 'http://2130706433', 'http://0x7f.1', 'http://[::ffff:127.0.0.1]', 'http://0.0.0.0'])(
    '%s',
    async (origin) => {
      await using receiver = await startHostile((socket) => socket.end());
      using sender = senderTo(`${origin}:${new URL(receiver.url).port}/`, strict);
      expect(await sender.send(MESSAGE)).toEqual(PRIVATE);
      expect(receiver.connections).toBe(0);
    },
  );

  test('a name that resolves to one, such as localhost', async () => {
    await using receiver = await startHostile((socket) => socket.end());
    using sender = senderTo(`http://localhost:${new URL(receiver.url).port}/`, strict);
    expect(await sender.send(MESSAGE)).toEqual(PRIVATE);
    expect(receiver.connections).toBe(0);
  });

  test('a name that changes between two look-ups (DNS rebinding)', async () => {
    await using receiver = await startHostile((socket) => socket.end());
    const answersInTurn = ['8.8.8.8', '127.0.0.1', '127.0.0.1'];
    const resolve: Resolve = (_name, _options, callback) => {
      const address = answersInTurn.shift() ?? '127.0.0.1';
      callback(null, [{ address, family: isIP(address) }]);
    };
    // The first look-up, as by a check beforehand, gives a public address.
    const checked = await new Promise((done) =>
      resolve('rebound.example', { all: true }, (_error, found) => done(found)),
    );
    expect(checked).toEqual([{ address: '8.8.8.8', family: 4 }]);
    using sender = senderTo(`http://rebound.example:${new URL(receiver.url).port}/`, { ...strict, resolve });
    expect(await sender.send(MESSAGE)).toEqual(PRIVATE);
    expect(receiver.connections).toBe(0);
  });
});

test('an aborted attempt is neither delivered nor failed', async () => {
  const clock = manualClock();
  await using receiver = await startHostile(() => {});
  using sender = senderTo(receiver.url, { clock });
  const answer = sender.send(MESSAGE);
  await receiver.asked;
  sender.close();
  expect(await answer).toEqual({ kind: 'aborted' });
});
