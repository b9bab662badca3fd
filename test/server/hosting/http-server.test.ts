/** In an HTTP server of one's own: what is not handed over stays its owner's, before, during and after. */
import { createServer as createHttpsServer } from 'node:https';
import { expect, test } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { createServer, OptionError } from '../../../src/index.ts';
import { connectClient } from '../../support/client.ts';
import { RawSocket } from '../../support/raw-socket.ts';
import { welcomeOf } from '../scenarios/members.ts';
import { listenersOf, startHttpHost } from './http-host.ts';

const text = async (url: string, init?: RequestInit): Promise<string> => (await fetch(url, init)).text();

test('two meet in a server that is somebody else’s, which answers as before and is left as it was', async () => {
  await using host = await startHttpHost();
  const before = listenersOf(host.server);
  const signalbox = await createServer({}, { server: host.server });
  expect(listenersOf(host.server)).toEqual({ ...before, upgrade: [expect.any(Function)] });
  await using ann = await connectClient(host.url);
  await using ben = await connectClient(host.url);
  const { room } = await ann.must('room:create');
  await ben.must('room:join', { code: room.code });
  await ann.next('member:joined');
  expect(await text(`${host.url}/healthz`)).toBe('own');
  expect(await text(`${host.url}/socket.io/?EIO=4&transport=polling`)).toBe('own');

  const closed = ann.closed();
  await Promise.all([signalbox.close(), signalbox.close()]);
  await ann.next('server:drain');
  expect(await closed).toBe('transport close');
  expect(listenersOf(host.server)).toEqual(before);
  expect(host.server.listening).toBe(true);
  expect(await text(`${host.url}/healthz`)).toBe('own');
  // Nobody takes upgrades any more: to its owner, it is a request.
  await expect(RawSocket.open(host.port)).rejects.toThrow('refused with 200');
});

test('the SDK connects to another path', async () => {
  await using host = await startHttpHost();
  const signalbox = await createServer({ socketPath: '/signaling/socket' }, { server: host.server });
  const client = connect(host.url, { path: '/signaling/socket' });
  expect((await client.create()).code).toMatch(/^\d{6}$/);
  await client.close();
  await signalbox.close();
});

test('only what is handed over is answered, with the prefix or without it', async () => {
  await using host = await startHttpHost((request, response) => {
    const { url = '' } = request;
    if (url === '/signaling/throws') response.end(thrownBy(() => signalbox.handle(request, response)));
    else if (url.startsWith('/signaling') || url.startsWith('/mounted')) {
      // As Express does with what it has matched.
      Object.assign(request, { originalUrl: url });
      request.url = url.replace('/mounted', '');
      signalbox.handle(request, response);
    } else response.end('own');
  });
  const adminToken = 'the operator of this test';
  const signalbox = await createServer({ nodeId: 'within', adminToken }, { server: host.server, prefix: '/signaling' });
  const health = { ok: true, nodeId: 'within' };
  expect(JSON.parse(await text(`${host.url}/signaling/healthz`))).toEqual(health);
  expect(JSON.parse(await text(`${host.url}/mounted/healthz?a=b`))).toEqual(health);
  expect((await fetch(`${host.url}/signaling/readyz`)).status).toBe(200);
  const headers = { authorization: `Bearer ${adminToken}` };
  expect(JSON.parse(await text(`${host.url}/signaling/v1/pool`, { headers }))).toMatchObject({ occupied: 0 });
  expect((await fetch(`${host.url}/signaling/v1/pool`)).status).toBe(401);
  for (const prefix of ['/signaling', '/mounted']) {
    const made = await fetch(`${host.url}${prefix}/v1/rooms`, { method: 'POST', headers });
    expect(made.headers.get('location')).toBe(`${prefix}/v1/rooms/${(await made.json()).code}`);
  }
  const nowhere = await fetch(`${host.url}/signaling`);
  expect([nowhere.status, nowhere.headers.get('content-type')]).toEqual([404, expect.stringMatching(/problem\+json/)]);
  expect(await text(`${host.url}/healthz`)).toBe('own');
  await signalbox.close();
  const late = await fetch(`${host.url}/signaling/healthz`);
  expect([late.status, await late.json()]).toEqual([503, expect.objectContaining({ status: 503 })]);
  expect(await text(`${host.url}/healthz`)).toBe('own');
});

test('a request whose body somebody has read is refused to its owner, who would wait for ever', async () => {
  await using host = await startHttpHost(async (request, response) => {
    for await (const _ of request);
    response.end(thrownBy(() => signalbox.handle(request, response)));
  });
  const signalbox = await createServer({}, { server: host.server });
  expect(await text(`${host.url}/v1/rooms`, { method: 'POST', body: '{}' })).toMatch(/body has been read/);
  await signalbox.close();
});

test('polling is answered where its path is handed over', async () => {
  await using host = await startHttpHost((request, response) => {
    if (request.url?.startsWith('/a/socket/')) signalbox.handle(request, response);
    else response.end('own');
  });
  const signalbox = await createServer(
    { socketPath: '/a/socket', transports: ['polling'] },
    { server: host.server, prefix: '/a' },
  );
  expect(await text(`${host.url}/a/socket/?EIO=4&transport=polling`)).toMatch(/^0\{"sid":/);
  await signalbox.close();
  expect((await fetch(`${host.url}/a/socket/?EIO=4&transport=polling`)).status).toBe(503);
});

test('two in one server, under different paths, and one beside it: none disturbs another', async () => {
  await using host = await startHttpHost();
  const [one, two, alone] = await Promise.all([
    createServer({ nodeId: 'one', socketPath: '/one' }, { server: host.server }),
    createServer({ nodeId: 'two', socketPath: '/two' }, { server: host.server }),
    createServer({ nodeId: 'alone', host: '127.0.0.1', port: 0 }),
  ]);
  await using ann = await connectClient(host.url, {}, { path: '/one' });
  await using ben = await connectClient(host.url, {}, { path: '/two' });
  await using cat = await connectClient(alone.url);
  expect([ann, ben, cat].map((client) => welcomeOf(client).nodeId)).toEqual(['one', 'two', 'alone']);
  const { room } = await ann.must('room:create');
  expect(await ben.refused('room:join', { code: room.code })).toBe('ROOM_NOT_FOUND');
  await one.close();
  for (const client of [ben, cat]) await client.must('room:create');
  // Its path is free again.
  const next = await createServer({ nodeId: 'next', socketPath: '/one' }, { server: host.server });
  await using dan = await connectClient(host.url, {}, { path: '/one' });
  expect(welcomeOf(dan).nodeId).toBe('next');
  await Promise.all([two.close(), alone.close(), next.close()]);
  expect(host.server.listenerCount('upgrade')).toBe(0);
});

test('what makes no sense there is named, and nothing is left on the server', async () => {
  await using host = await startHttpHost();
  const { server } = host;
  for (const option of [{ port: 3000 }, { host: '127.0.0.1' }, { demo: true }, { headersTimeoutMs: 1000 }])
    await expect(createServer(option, { server })).rejects.toThrow(OptionError);
  await expect(createServer({}, { server, prefix: 'signaling/' })).rejects.toThrow(/^prefix: /);
  await expect(createServer({ socketPath: 'socket' }, { server })).rejects.toThrow(/^socketPath: /);
  const signalbox = await createServer({}, { server });
  await expect(createServer({}, { server })).rejects.toThrow(/^socketPath: .* taken by another Signalbox/);
  // The second one has taken nothing from the first.
  await using ann = await connectClient(host.url);
  await ann.must('room:create');
  await signalbox.close();
  expect(server.listenerCount('upgrade')).toBe(0);
});

test('what listens nowhere yet has no address, and begins when its owner does', async () => {
  const server = createHttpsServer();
  const signalbox = await createServer({}, { server });
  expect(Object.keys(signalbox)).not.toEqual(expect.arrayContaining(['url', 'port']));
  expect(server.listenerCount('upgrade')).toBe(1);
  await signalbox.close();
  expect(server.listenerCount('upgrade')).toBe(0);
});

function thrownBy(call: () => void): string {
  try {
    call();
    return 'nothing';
  } catch (error) {
    return String(error);
  }
}
