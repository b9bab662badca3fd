/** Servers do not share anything by accident, and closing one ends all that it started. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createServer, OptionError } from '../../src/index.ts';
import { connectClient } from '../support/client.ts';
import { startChild } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { refusedHandshake, tokenOf, welcomeOf } from './scenarios/members.ts';

const LOCAL = { host: '127.0.0.1', port: 0, demo: false };
const root = fileURLToPath(new URL('../..', import.meta.url));

test('two servers in one process have their own options and rooms', async () => {
  const [one, two] = await Promise.all([
    createServer({ ...LOCAL, nodeId: 'one', codeDigits: 6, maxUsers: 2, secret: 'the secret of the first' }),
    createServer({ ...LOCAL, nodeId: 'two', codeDigits: 8, maxUsers: 9, secret: 'the secret of the other' }),
  ]);
  await using ann = await connectClient(one.url);
  await using ben = await connectClient(two.url);
  expect([welcomeOf(ann), welcomeOf(ben)]).toMatchObject([
    { nodeId: 'one', limits: { codeDigits: 6 } },
    { nodeId: 'two', limits: { codeDigits: 8 } },
  ]);
  const [{ room }, { room: other }] = [await ann.must('room:create'), await ben.must('room:create')];
  expect([room.maxUsers, room.code.length]).toEqual([2, 6]);
  expect([other.maxUsers, other.code.length]).toEqual([9, 8]);
  expect(await ben.refused('room:join', { code: room.code })).toBe('BAD_REQUEST');
  expect(await refusedHandshake(two.url, { resume: tokenOf(ann) })).toMatchObject({ code: 'SESSION_EXPIRED' });
  await one.close();
  await ben.must('message', { data: 'unmoved' });
  await ben.next('message');
  await two.close();
});

test('servers with different prefixes on one Redis do not share rooms', async () => {
  await using redis = await startRedis();
  const start = (redisPrefix: string) => createServer({ ...LOCAL, redisUrl: redis.url, redisPrefix });
  const [one, two] = [await start('a:'), await start('b:')];
  await using ann = await connectClient(one.url);
  await using ben = await connectClient(two.url);
  const { room } = await ann.must('room:create');
  expect(await ben.refused('room:join', { code: room.code })).toBe('ROOM_NOT_FOUND');
  expect(await one.engine.nodes()).toEqual([one.nodeId]);
  expect((await two.pool()).occupied).toBe(0);
  await Promise.all([one.close(), two.close()]);
});

test('a server that closes asks its clients to reconnect, closes once, and frees the port', async () => {
  const server = await createServer(LOCAL);
  await using ann = await connectClient(server.url);
  const closed = ann.closed();
  await Promise.all([server.close(), server.close()]);
  expect((await ann.next('server:drain')).reconnectInMs).toBeGreaterThanOrEqual(0);
  // Not the final kind of close: the client comes back, elsewhere.
  expect(await closed).toBe('transport close');
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  await using next = await takeOverPort(server.port);
  expect(next.port).toBe(server.port);
});

test('an invalid option is named, and nothing is left running', async () => {
  await expect(createServer({ ...LOCAL, tickMs: 60_000 })).rejects.toThrow(OptionError);
  await expect(createServer({ ...LOCAL, poolSize: 50 })).rejects.toThrow(/^poolSize: /);
});

test.each(['memory', 'redis'])(
  'a process on %s ends by itself when its server is closed and its clients are gone',
  async (kind) => {
    await using redis = kind === 'redis' ? await startRedis() : undefined;
    const options = { ...LOCAL, ...(redis && { redisUrl: redis.url }) };
    // What a process of its own does from beginning to end. It is not told to exit.
    const script = `
    const { createServer } = await import('./src/index.ts');
    const { io } = await import('socket.io-client');
    const server = await createServer(${JSON.stringify(options)});
    const client = io(server.url, { transports: ['websocket'], auth: { v: 1 }, reconnection: false });
    await new Promise((resolve) => client.once('welcome', resolve));
    const made = await client.emitWithAck('room:create', {});
    await server.close();
    console.log(made.ok ? 'closed' : 'refused');
  `;
    await using child = await startChild({
      command: process.execPath,
      args: ['--import', 'tsx', '--input-type=module', '--eval', script],
      cwd: root,
    });
    await child.line(/^closed$/);
    expect(await child.exited).toEqual({ code: 0, signal: null });
  },
);

/** Starts a server on a port that must be free. */
async function takeOverPort(port: number) {
  const server = await createServer({ ...LOCAL, port });
  return { port: server.port, [Symbol.asyncDispose]: () => server.close() };
}
