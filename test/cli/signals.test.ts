/** What a load balancer sees of a node that is told to end, and what its clients get until then. */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { refusedHandshake } from '../server/scenarios/members.ts';
import { connectClient } from '../support/client.ts';
import { PATIENCE_MS } from '../support/patience-ms.ts';
import { startProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redis.ts';
import { beginSignalbox, runSignalbox, startSignalbox } from '../support/signalbox.ts';

const TOKEN = 'the-operator-of-these-tests';
const ADMIN = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

async function answerOf(url: string, agent?: Agent) {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage]; // the types of events are lost
  return { status: response.statusCode, headers: response.headers, body: await json(response) };
}

test('on SIGTERM readiness fails at once on new and kept connections, and everything else goes on', async () => {
  await using server = await startSignalbox({ adminToken: TOKEN, drainReadyMs: 3000 });
  await using ann = await connectClient(server.url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  expect(await answerOf(`${server.url}/readyz`, agent)).toMatchObject({
    status: 200,
    headers: { 'cache-control': 'no-store', connection: 'keep-alive' },
    body: { ok: true, store: 'up', draining: false },
  });
  server.child.signal('SIGTERM');
  await server.child.line(/shutting down/);
  for (const how of [agent, undefined]) {
    expect(await answerOf(`${server.url}/readyz`, how)).toMatchObject({
      status: 503,
      headers: { 'cache-control': 'no-store', connection: 'close' },
      body: { code: 'DRAINING', draining: true },
    });
  }
  expect(await answerOf(`${server.url}/healthz`)).toMatchObject({ status: 200, headers: { connection: 'close' } });
  // Those who are connected notice nothing, and a back end may still create.
  const { room } = await ann.must('room:create');
  const made = await fetch(`${server.url}/v1/rooms`, { method: 'POST', headers: ADMIN, body: '{}' });
  expect(made.status).toBe(201);
  expect((await fetch(`${server.url}/v1/rooms/${room.code}`, { headers: ADMIN })).status).toBe(200);
  expect(await refusedHandshake(server.url, {})).toMatchObject({
    code: 'DRAINING',
    retryable: true,
    retryAfterMs: 500,
  });
  await ann.next('server:drain');
  expect(await server.child.exited).toEqual({ code: 0, signal: null });
});

test('on SIGINT nobody waits for a load balancer', async () => {
  await using server = await startSignalbox({ drainReadyMs: 600_000, drainMs: 600_000 });
  server.child.signal('SIGINT');
  expect(await server.child.exited).toEqual({ code: 0, signal: null });
});

test.each(['SIGTERM', 'SIGINT'] as const)('a %s after the first SIGTERM ends the process at once', async (second) => {
  await using server = await startSignalbox({ drainReadyMs: 600_000, drainMs: 600_000 });
  server.child.signal('SIGTERM');
  await server.child.line(/shutting down/);
  server.child.signal(second);
  expect(await server.child.exited).toEqual({ code: 1, signal: null });
  expect(server.logs().at(-1)).toMatchObject({ signal: second, msg: expect.stringContaining('at once') });
});

test('a shutdown ends within its time while Redis is frozen and a client does not read', async () => {
  await using redis = await startRedis();
  await using link = await startProxy(redis.port);
  const drainMs = 4000;
  await using server = await startSignalbox({ redisUrl: `redis://127.0.0.1:${link.port}`, drainMs, drainReadyMs: 0 });
  await using ann = await connectClient(server.url);
  await ann.must('room:create');
  link.freeze();
  ann.socket.io.engine.transport.pause(() => {});
  const begun = performance.now();
  server.child.signal('SIGTERM');
  await server.child.exited;
  // A second for a busy machine to end a process.
  expect(performance.now() - begun).toBeLessThan(drainMs + 1000);
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a %s during the start ends the node, and what it has started',
  async (signal) => {
    await using redis = await startRedis();
    await using link = await startProxy(redis.port);
    link.freeze();
    await using child = await beginSignalbox({ redisUrl: `redis://127.0.0.1:${link.port}` });
    await expect.poll(() => link.accepted, { timeout: PATIENCE_MS }).toBeGreaterThan(0);
    child.signal(signal);
    await child.line(/shutting down/);
    link.thaw();
    expect(await child.exited).toEqual({ code: 0, signal: null });
    // Nobody is told an address that is closed.
    expect(child.lines.filter((line) => !line.startsWith('{'))).toEqual([]);
    await expect.poll(() => link.connections, { timeout: PATIENCE_MS }).toBe(0);
  },
);

test('a signal ends a process that has not even loaded the server', async () => {
  // The first listener is the earliest moment: before it, every process is ended by the kernel, but for the first of a container.
  const kill = `process.on('newListener', (event) => event === 'SIGTERM' && queueMicrotask(() => process.kill(process.pid, event)))`;
  const ended = await runSignalbox(['serve', '--port', '0'], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(kill)}`,
  });
  expect(ended).toEqual({ code: 143, stdout: '', stderr: '' });
});

test('a request that is under way when the node closes is answered', async () => {
  await using server = await startSignalbox({ adminToken: TOKEN });
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  const head = `POST /v1/references/order HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{`);
  // The server has read the head, and waits for the rest of the body.
  await expect.poll(() => answer, { timeout: PATIENCE_MS }).toMatch(/^HTTP\/1\.1 100 /);
  server.child.signal('SIGINT');
  await server.child.line(/shutting down/);
  // It does not listen any more.
  await expect
    .poll(
      () =>
        fetch(server.url).then(
          () => 'open',
          () => 'closed',
        ),
      { timeout: PATIENCE_MS },
    )
    .toBe('closed');
  socket.write('}');
  await once(socket, 'close');
  expect(answer).toMatch(/\r\n\r\nHTTP\/1\.1 200 .*connection: close.*"references":/is);
  expect(await server.child.exited).toEqual({ code: 0, signal: null });
});
