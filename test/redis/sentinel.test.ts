/** Connections over sentinels, by themselves: what they connect to, what they refuse, and when they leave a server. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connectRedis, type RedisClients } from '../../src/redis/connect.ts';
import { connectPlainClient } from '../../src/redis/plain-client.ts';
import { MASTER_NAME, type SentinelGroup, startSentinelGroup } from '../support/redis-sentinel.ts';

const PASSWORD = 'of-redis';
const SENTINEL_PASSWORD = 'of-sentinels';

let group: SentinelGroup;
beforeAll(async () => {
  group = await startSentinelGroup({ password: PASSWORD, sentinelPassword: SENTINEL_PASSWORD });
});
afterAll(async () => {
  await group?.[Symbol.asyncDispose]();
});

/** The port of the server that a connection leads to. */
async function portOf(clients: RedisClients, role: 'state' | 'pub' | 'sub' = 'state'): Promise<number> {
  const text = String(await clients[role].sendCommand(['INFO', 'server']));
  return Number(/tcp_port:(\d+)/.exec(text)?.[1]);
}

/** The message of a rejected connect, as an operator reads it. */
async function refusal(url: string): Promise<string> {
  try {
    await using _ = await connectRedis({ url, connectMs: 4_000 });
  } catch (error) {
    return String(error);
  }
  throw new Error('expected a rejection');
}

test('all connections lead to the primary, in the database of the URL', async () => {
  await using clients = await connectRedis({ url: group.url.replace('?', '/3?') });
  const { port } = await group.primary();
  expect(await Promise.all((['state', 'pub', 'sub'] as const).map((role) => portOf(clients, role)))).toEqual([
    port,
    port,
    port,
  ]);
  expect(clients.database).toBe(3);
  expect(await clients.state.sendCommand(['CLIENT', 'INFO'])).toMatch(/name=signalbox-state .*db=3 /);
  expect(clients.address).not.toContain(PASSWORD);
  const audit = await connectPlainClient('audit', group.url);
  expect((await audit.role())?.role).toBe('master');
  audit.destroy();
});

test.concurrent.each([
  ['another name', (url: string) => url.replace(`/${MASTER_NAME}`, '/other'), /no sentinel knows.*"other"/],
  ['a wrong password of Redis', (url: string) => url.replace(PASSWORD, 'hunter2'), /WRONGPASS/],
  ['no password of Redis', (url: string) => url.replace(`:${PASSWORD}@`, ''), /NOAUTH/],
  ['a wrong password of sentinels', (url: string) => url.replace(SENTINEL_PASSWORD, 'hunter2'), /sentinel.*WRONGPASS/],
  ['no password of sentinels', (url: string) => url.replace(/\?.*/, ''), /sentinel.*NOAUTH/],
  [
    'sentinels that are Redis',
    (url: string) => url.replace(/@[^/]*/, `@127.0.0.1:${group.servers[0]?.port}`),
    /sentinel/,
  ],
])('with %s, connecting rejects in time and says so', async (_, change, reason) => {
  const message = await refusal(change(group.url));
  expect(message).toMatch(reason);
  for (const secret of ['hunter2', PASSWORD, SENTINEL_PASSWORD]) expect(message).not.toContain(secret);
});

test('users who may only ask for the primary, and not for a role, are enough', async () => {
  const { port } = await group.primary();
  for (const sentinel of group.sentinels) {
    const rights = ['resetkeys', 'resetchannels', '-@all', '+sentinel|get-master-addr-by-name'];
    await group.ask(sentinel.port, 'ACL', 'SETUSER', 'asker', 'on', '>asks', ...rights);
  }
  await group.ask(port, 'ACL', 'SETUSER', 'calls', 'on', '>calls', '~*', '&*', '+@all', '-role');
  const hosts = group.sentinels.map((sentinel) => `127.0.0.1:${sentinel.port}`).join(',');
  const users = 'sentinelUsername=asker&sentinelPassword=asks';
  await using clients = await connectRedis({ url: `redis+sentinel://calls:calls@${hosts}/${MASTER_NAME}?${users}` });
  expect(await portOf(clients)).toBe(port);
  await expect(clients.state.sendCommand(['ROLE'])).rejects.toThrow('NOPERM');
});

test('with a single sentinel that answers, the others being dead or frozen, connecting takes no longer than its deadline', async () => {
  const [first, second] = group.sentinels;
  const { port } = await group.primary();
  await first?.kill();
  second?.freeze();
  try {
    await using clients = await connectRedis({ url: group.url });
    expect(await portOf(clients)).toBe(port);
  } finally {
    second?.thaw();
    await first?.restart();
  }
});

test('without any sentinel, connections stay, and one that is lost is made again to the known primary', async () => {
  const warnings: string[] = [];
  await using clients = await connectRedis({ url: group.url, warn: (message) => warnings.push(message) });
  const port = await portOf(clients);
  for (const sentinel of group.sentinels) await sentinel.kill();
  await vi.waitFor(() => expect(warnings.join()).toMatch(/no sentinel of Redis answers: .*ECONNREFUSED/));
  expect(await portOf(clients)).toBe(port);
  await group.ask(port, 'CLIENT', 'KILL', 'TYPE', 'normal');
  await vi.waitFor(async () => expect(await portOf(clients)).toBe(port));
  for (const sentinel of group.sentinels) await sentinel.restart();
  await vi.waitFor(() => expect(warnings.join()).toMatch(/the sentinels of Redis answer again/));
  expect(warnings).toHaveLength(2);
});

test('commands are refused at once while there is no primary, and subscriptions are there on the next one', async () => {
  await using clients = await connectRedis({ url: group.url });
  const heard: string[] = [];
  await clients.sub.subscribe('news', (message) => heard.push(message));
  const old = await group.primary();
  await old.kill();
  await vi.waitFor(() => expect(clients.state.isReady).toBe(false));
  const began = performance.now();
  await expect(clients.state.sendCommand(['SET', 'late', '1'])).rejects.toThrow();
  await expect(clients.pub.sPublish('late', '1')).rejects.toThrow();
  expect(performance.now() - began).toBeLessThan(500);
  await clients.sub.subscribe('more news', (message) => heard.push(message));
  const fresh = await group.failOver();
  await vi.waitFor(async () => expect(await portOf(clients)).toBe(fresh.port));
  await vi.waitFor(async () => {
    await group.ask(fresh.port, 'PUBLISH', 'news', 'one');
    await group.ask(fresh.port, 'PUBLISH', 'more news', 'two');
    expect(heard).toEqual(expect.arrayContaining(['one', 'two']));
  });
  expect(await clients.state.sendCommand(['EXISTS', 'late'])).toBe(0);
  // It comes back as a primary, and is a replica a moment later: nobody stays with it.
  await old.restart();
  await group.inSync();
  expect(await portOf(clients)).toBe(fresh.port);
});

test('a single sentinel whose word is out of date neither ends a connection nor keeps one from being made again', async () => {
  const old = await group.primary();
  const [late, ...others] = group.sentinels;
  await late?.kill();
  const fresh = await group.failOver();
  // Two primaries until then.
  await vi.waitFor(async () => expect(await group.ask(old.port, 'ROLE')).toContain('slave'));
  await using clients = await connectRedis({ url: group.url });
  for (const sentinel of others) await sentinel.kill();
  await late?.restart();
  await vi.waitFor(async () =>
    expect(await group.ask(late?.port ?? 0, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)).toContain(
      `${old.port}`,
    ),
  );
  expect(await portOf(clients)).toBe(fresh.port);
  await group.ask(fresh.port, 'CLIENT', 'KILL', 'TYPE', 'normal');
  await vi.waitFor(async () => expect(await portOf(clients)).toBe(fresh.port));
  for (const sentinel of others) await sentinel.restart();
  await group.inSync();
});

test('closing ends the connections to Redis and to the sentinels, also while there is no primary', async () => {
  const count = async (): Promise<number> => {
    const lists = await Promise.all(group.sentinels.map(({ port }) => group.ask(port, 'CLIENT', 'LIST')));
    return lists
      .join('')
      .split('\n')
      .filter((line) => line.includes('cmd=sentinel|get-master-addr-by-name')).length;
  };
  const clients = await connectRedis({ url: group.url });
  await vi.waitFor(async () => expect(await count()).toBeGreaterThan(0));
  const old = await group.primary();
  old.freeze();
  await clients.close();
  await clients.close();
  old.thaw();
  await vi.waitFor(async () => expect(await count()).toBe(0));
  await expect(clients.state.sendCommand(['PING'])).rejects.toThrow();
});
