/** Embedded in an HTTP server: only requests that its owner passes to `handle` are answered. */
import { createServer as createHttpsServer } from 'node:https';
import { expect, test } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { createServer, OptionError } from '../../../src/index.ts';
import { connectClient } from '../../support/client.ts';
import { RawSocket } from '../../support/raw-socket.ts';
import { welcomeOf } from '../scenarios/members.ts';
import { listenersOf, startHttpHost } from './http-host.ts';

const text = async (url: string, init?: RequestInit): Promise<string> => (await fetch(url, init)).text();

test('two clients meet in an embedding server, which answers as before and keeps its listeners', async () => {
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
  // Without a listener for upgrades, the owner receives an upgrade as a request.
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

test('only a request passed to `handle` is answered, with the prefix or without it', async () => {
  await using host = await startHttpHost((request, response) => {
    const { url = '' } = request;
    if (url === '/signaling/throws') response.end(thrownBy(() => signalbox.handle(request, response)));
    else if (url.startsWith('/signaling') || url.startsWith('/mounted')) {
      // Express changes a request like this when a mount path matches.
      Object.assign(request, { originalUrl: url });
      request.url = url.replace('/mounted', '');
      signalbox.handle(request, response);
    } else response.end('own');
  });
  const adminToken = 'the-operator-of-this-test';
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

test('`handle` throws for a request whose body has been read, because it would wait for ever', async () => {
  await using host = await startHttpHost(async (request, response) => {
    for await (const _ of request);
    response.end(thrownBy(() => signalbox.handle(request, response)));
  });
  const signalbox = await createServer({}, { server: host.server });
  expect(await text(`${host.url}/v1/rooms`, { method: 'POST', body: '{}' })).toMatch(/body has been read/);
  await signalbox.close();
});

test('polling is answered when its path is passed to `handle`', async () => {
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

test('two servers under different paths of one HTTP server, and one of its own, are independent', async () => {
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
  // The path of a closed server is free again.
  const next = await createServer({ nodeId: 'next', socketPath: '/one' }, { server: host.server });
  await using dan = await connectClient(host.url, {}, { path: '/one' });
  expect(welcomeOf(dan).nodeId).toBe('next');
  await Promise.all([two.close(), alone.close(), next.close()]);
  expect(host.server.listenerCount('upgrade')).toBe(0);
});

test('an option that makes no sense when embedded is refused by name, and no listener remains', async () => {
  await using host = await startHttpHost();
  const { server } = host;
  for (const option of [{ port: 3000 }, { host: '127.0.0.1' }, { demo: true }, { headersTimeoutMs: 1000 }])
    await expect(createServer(option, { server })).rejects.toThrow(OptionError);
  await expect(createServer({}, { server, prefix: 'signaling/' })).rejects.toThrow(/^prefix: /);
  await expect(createServer({ socketPath: 'socket' }, { server })).rejects.toThrow(/^socketPath: /);
  const signalbox = await createServer({}, { server });
  await expect(createServer({}, { server })).rejects.toThrow(/^socketPath: .* taken by another Signalbox/);
  // The refused server has not affected the first one.
  await using ann = await connectClient(host.url);
  await ann.must('room:create');
  await signalbox.close();
  expect(server.listenerCount('upgrade')).toBe(0);
});

test('an embedded server has no address of its own, and listens for upgrades until it is closed', async () => {
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
