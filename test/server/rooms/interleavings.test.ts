/** Races between two awaits and between two nodes. Each of them was a fault once. */
import { expect, test } from 'vitest';
import type { Engine, EngineSettings } from '../../../src/engine/engine.ts';
import { createMemoryEngine } from '../../../src/engine/memory.ts';
import { createRedisEngine } from '../../../src/engine/redis/index.ts';
import { createServer } from '../../../src/index.ts';
import type { Command } from '../../../src/room/commands.ts';
import { StoreUnavailable } from '../../../src/support/store.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import { startNodes } from '../../support/nodes.ts';
import { startRedis } from '../../support/redis.ts';

/** The engine is given as a dependency. */
const TWO = { kind: 'memory', count: 2 } as const;

test('a client that a locked room refuses receives no push of it', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 2 });
  await using host = await connectClient(nodes.url(0));
  await using stranger = await connectClient(nodes.url(0));
  const { room } = await host.must('room:create');
  await host.must('room:update', { locked: true });
  for (let talk = 0; talk < 40; talk += 1) {
    const asking = [{ code: room.code }, { code: room.code, ref: room.ref }].map((by) => stranger.ask('room:join', by));
    await Promise.all([...asking, host.must('message', { data: talk })]);
  }
  expect(stranger.heard.map(({ name }) => name)).toEqual(['welcome']);
});

test('a replaced tab whose node message was lost is ended by the tick, and not the tab that replaced it', async () => {
  await using redis = await startRedis();
  await using nodes = await startNodes(TWO, { tickMs: 200 }, { engine: withoutNodeMessages(redis.url) });
  await using host = await connectClient(nodes.url(0));
  await using first = await connectClient(nodes.url(0));
  const { room } = await host.must('room:create');
  await first.must('room:join', { code: room.code });
  await using second = await connectClient(nodes.url(1), { resume: tokenOf(first) });
  expect(await reasonOf(first)).toBe('io server disconnect');
  expect(first.heard.at(-1)?.name).toBe('session:replaced');
  await second.must('message', { data: 'still here' });
});

test('a request of a session that has ended is refused with SESSION_EXPIRED', async () => {
  await using redis = await startRedis();
  await using nodes = await startNodes(TWO, {}, { engine: withoutNodeMessages(redis.url) });
  await using first = await connectClient(nodes.url(0));
  await using _second = await connectClient(nodes.url(1), { resume: tokenOf(first) });
  expect(await first.refused('heartbeat')).toBe('SESSION_EXPIRED');
  expect(await reasonOf(first)).toBe('io server disconnect');
});

test('a member whose leave failed receives no more messages of that room', async () => {
  const fails = new Set<Command['kind']>();
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, {}, { engine: failingFor(fails) });
  await using ann = await connectClient(nodes.url(0));
  await using ben = await connectClient(nodes.url(0));
  await using cat = await connectClient(nodes.url(0));
  const { room } = await ann.must('room:create');
  const { room: other } = await ben.must('room:create');
  await cat.must('room:join', { code: room.code });
  fails.add('leave');
  await cat.must('room:join', { code: other.code });
  fails.clear();
  await ann.must('message', { data: 'not for you' });
  await ben.must('message', { data: 'for you' });
  expect((await cat.next('message')).data).toBe('for you');
});

test('a resumed session stays when the store fails right after', async () => {
  const fails = new Set<Command['kind']>();
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, {}, { engine: failingFor(fails) });
  await using host = await connectClient(nodes.url(0));
  await using ann = await connectClient(nodes.url(0));
  const { room } = await host.must('room:create');
  await ann.must('room:join', { code: room.code });
  ann.cut();
  await host.next('member:away');
  fails.add('read');
  await using back = await connectClient(nodes.url(0), { resume: tokenOf(ann) });
  await back.must('message', { data: 'I am back' });
  expect((await host.next('message')).from).toBe(back.userId);
});

test('nodes whose pools have different shapes do not share a Redis', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 1 });
  const redisUrl = nodes.redis?.url ?? expect.unreachable();
  await expect(createServer({ port: 0, redisUrl, codeDigits: 7 })).rejects.toThrow('are of another pool');
  await expect(createServer({ port: 0, redisUrl, poolSize: 100 })).rejects.toThrow('codeDigits and poolSize');
});

/** An engine that sends no message to other nodes. */
function withoutNodeMessages(url: string) {
  const make = createRedisEngine({ url });
  return async (settings: EngineSettings): Promise<Engine> => {
    const engine = await make(settings);
    return { ...engine, fanout: { ...engine.fanout, send: () => {} } };
  };
}

/** An engine whose store is unavailable for some commands. */
function failingFor(kinds: ReadonlySet<Command['kind']>) {
  return (settings: EngineSettings): Engine => {
    const engine = createMemoryEngine(settings);
    return {
      ...engine,
      apply: async (command) => {
        if (kinds.has(command.kind)) throw new StoreUnavailable('away');
        return engine.apply(command);
      },
    };
  };
}

const tokenOf = (client: TestClient): string => client.all('welcome').at(-1)?.resume ?? '';

/** Why the server has closed, or will close, the connection. */
const reasonOf = (client: TestClient): Promise<string> =>
  client.socket.connected
    ? new Promise((resolve) => client.socket.once('disconnect', resolve))
    : Promise.resolve('io server disconnect');
