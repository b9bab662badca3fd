/** A server that refuses the handshake and says when to try again: the client does not try sooner. */
import { expect, test } from 'vitest';
import { startNodes } from '../support/nodes.ts';
import { Clients, MemoryStore, next, reaches } from './harness.ts';
import { startHandshakeServer } from './scripted-server.ts';
import { TcpSwitch } from './tcp-switch.ts';

test('the client tries again after the wait that the server asks for, and not before', async () => {
  await using server = await startHandshakeServer(() => ({ code: 'STORE_UNAVAILABLE', detail: { retryAfterMs: 300 } }));
  await using clients = new Clients();
  const client = clients.connect(server.url, { backoff: { baseMs: 1, maxMs: 1 }, timeoutMs: 5000 });
  const create = client.create().catch((error: unknown) => error);
  for (let attempts = 1; attempts <= 3; attempts += 1) {
    const { retryInMs, error } = await next(client, 'retry');
    expect([error.code, retryInMs >= 300, retryInMs <= 301]).toEqual(['STORE_UNAVAILABLE', true, true]);
  }
  const times = server.attempts.map(({ at }) => at);
  expect(times).toHaveLength(3);
  // The wait begins at the refusal, so attempts are farther apart than that. Timers may fire 1 ms early.
  for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).toBeGreaterThan(298);
  expect(client.state).toBe('connecting');
  expect(await create).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true, retryAfterMs: 300 });
});

test('a client that was online keeps that wait, too', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using server = await startHandshakeServer(() => ({ code: 'DRAINING', detail: { retryAfterMs: 400 } }));
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const client = clients.connect(tcp.url, { backoff: { baseMs: 1, maxMs: 1 } });
  const room = await client.create();
  tcp.switchTo(server.port);
  const refused = next(client, 'retry', ({ error }) => error.code === 'DRAINING');
  tcp.cut();
  await refused;
  tcp.switchTo(nodes.servers[0]?.port ?? 0);
  const at = performance.now();
  await next(room, 'resumed');
  expect(performance.now() - at).toBeGreaterThan(395);
  expect(server.attempts).toHaveLength(1);
});

test('a server that sends no welcome is given up in time, and tried again', async () => {
  await using server = await startHandshakeServer(() => 'silence');
  await using clients = new Clients();
  const client = clients.connect(server.url, { timeoutMs: 200 });
  const { error } = await next(client, 'retry');
  expect(error).toMatchObject({ code: 'UNREACHABLE', retryable: true });
  await next(client, 'retry');
  expect(server.attempts.length).toBeGreaterThanOrEqual(2);
});

test.each(['UNAUTHENTICATED', 'VERSION_UNSUPPORTED', 'BAD_REQUEST', 'INTERNAL'] as const)(
  'what it says once and for all is the end: %s',
  async (code) => {
    await using server = await startHandshakeServer(() => ({ code }));
    await using clients = new Clients();
    const client = clients.connect(server.url, { backoff: { baseMs: 0, maxMs: 0 } });
    await reaches(client, 'closed');
    expect(client.ending).toMatchObject({ reason: 'refused', error: { code, retryable: false } });
    // Another attempt would have come before these.
    const other = clients.connect(server.url);
    await reaches(other, 'closed');
    expect(server.attempts).toHaveLength(2);
  },
);

test('a resume token that the server does not know is forgotten: the client gets a fresh session at once', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const store = new MemoryStore('of another server, or from long ago');
  const client = clients.connect(tcp.url, { store, backoff: { baseMs: 1e9, maxMs: 1e9 } });
  const retries: unknown[] = [];
  client.on('retry', (retry) => retries.push(retry));
  expect(await client.ready()).toBeNull();
  expect([tcp.accepted, tcp.welcomes, retries]).toEqual([2, 1, []]);
  expect(store.text).toMatch(/^ey/);
});

test('a client whose session has expired becomes another user, with another seat in the same room', async () => {
  const secrets = ['the secret of the one', 'the secret of the other'];
  await using nodes = await startNodes({ kind: 'redis', count: 1 }, { secret: secrets[0] });
  await using others = await startNodes(
    { kind: 'memory', count: 1 },
    { redisUrl: nodes.redis?.url, secret: secrets[1] },
  );
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const client = clients.connect(tcp.url, { name: 'Ann' });
  const room = await client.create();
  const { userId } = client;
  const rejoined = next(room, 'rejoined');
  tcp.switchTo(others.servers[0]?.port ?? 0);
  tcp.cut();
  await rejoined;
  await reaches(client, 'online');
  expect(client.userId).not.toBe(userId);
  expect(room.self).toMatchObject({ userId: client.userId, name: 'Ann', seq: 2 });
  expect(room.members[0]).toMatchObject({ userId, state: 'away', seq: 1 });
  await room.message('still here');
});

test('a handshake without options carries the version only: no token, no name, no resume', async () => {
  await using server = await startHandshakeServer(() => ({ code: 'UNAUTHENTICATED' }));
  await using clients = new Clients();
  await reaches(clients.connect(server.url), 'closed');
  await reaches(clients.connect(server.url, { name: 'Ann', token: 'abc' }), 'closed');
  expect(server.attempts.map(({ auth }) => auth)).toEqual([{ v: 1 }, { v: 1, name: 'Ann', token: 'abc' }]);
});
