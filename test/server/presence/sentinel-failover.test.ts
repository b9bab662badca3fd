/** A primary behind sentinels fails: members keep their seats, and messages of two nodes come through again both ways. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import { eventually } from '../../support/fleet.ts';
import { startNode } from '../../support/memory-node.ts';
import type { RedisServer } from '../../support/redis.ts';
import { type SentinelGroup, startSentinelGroup } from '../../support/redis-sentinel.ts';

/** Shorter than a test, so that seats that are not renewed in time would be lost in it. */
const OPTIONS = {
  userTtlMs: 12_000,
  tickMs: 500,
  secret: 'the secret of these nodes',
  adminToken: 'the-operator-of-these-tests',
};

let group: SentinelGroup;
beforeAll(async () => {
  group = await startSentinelGroup();
});
beforeEach(() => group.inSync());
afterAll(async () => {
  await group?.[Symbol.asyncDispose]();
});

async function startServer(options: PartialOptions = {}) {
  const server = await startNode({ redisUrl: group.url, ...OPTIONS, ...options }, {});
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}

/** Two members of one room, each on a node of its own. */
async function startCall(options: PartialOptions = {}) {
  const nodes = [await startServer(options), await startServer(options)] as const;
  const [ann, bob] = [await connectClient(nodes[0].url), await connectClient(nodes[1].url)];
  const { room } = await ann.must('room:create');
  await bob.must('room:join', { code: room.code });
  return {
    nodes,
    ann,
    bob,
    room,
    async [Symbol.asyncDispose]() {
      for (const client of [ann, bob]) await client[Symbol.asyncDispose]();
      for (const node of nodes) await node.close();
    },
  };
}

type Call = Awaited<ReturnType<typeof startCall>>;

let count = 0;

/** Resolves when a signal sent from now on is received. */
async function expectSignal(from: TestClient, to: TestClient): Promise<void> {
  count += 1;
  const number = count;
  await eventually(async () => (await from.ask('signal', { to: to.userId, data: number })).ok);
  await to.next('signal', ({ data }) => data === number);
}

/** What a failover must not change, shown by what clients hear and by what they are answered. */
async function expectUnharmed({ nodes, ann, bob, room }: Call): Promise<void> {
  await Promise.all([expectSignal(ann, bob), expectSignal(bob, ann)]);
  for (const node of nodes) await eventually(async () => (await fetch(`${node.url}/readyz`)).status === 200);
  for (const [from, to] of [[ann, bob] as const, [bob, ann] as const]) {
    count += 1;
    const number = count;
    await eventually(async () => (await from.ask('message', { data: number })).ok);
    await to.next('message', ({ data }) => data === number);
    const seen = await from.must('room:get');
    expect(seen.room.ref).toBe(room.ref);
    expect(seen.room.members.map(({ state }) => state)).toEqual(['present', 'present']);
    expect(from.socket.connected).toBe(true);
    expect(from.all('member:left')).toEqual([]);
    expect(from.all('member:away')).toEqual([]);
  }
  // A room of the other node is found: both nodes are on one server.
  await using carl = await connectClient(nodes[0].url);
  await using dora = await connectClient(nodes[1].url);
  const { room: next } = await carl.must('room:create');
  await dora.must('room:join', { code: next.code });
}

/** Refused requests say so at once, and that they may be repeated. @returns for how long they were refused. */
async function refusedMs(client: TestClient): Promise<number> {
  const began = performance.now();
  await eventually(async () => {
    const reply = await client.ask('room:get');
    if (!reply.ok) expect(reply.error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    return reply.ok;
  });
  return performance.now() - began;
}

const scriptsMissed = async (server: RedisServer): Promise<number> =>
  Number(/errorstat_NOSCRIPT:count=(\d+)/.exec(String(await group.ask(server.port, 'INFO', 'errorstats')))?.[1] ?? 0);

test('the primary is killed: requests are refused for seconds, and nothing else changes for two members on two nodes', async () => {
  await using call = await startCall();
  const old = await group.primary();
  await old.kill();
  await eventually(async () => !(await call.ann.ask('room:get')).ok);
  const fresh = await group.failOver();
  const afterwardsMs = await refusedMs(call.ann);
  await expectUnharmed(call);
  expect(afterwardsMs).toBeLessThan(5_000);
  // It knew no script: they were loaded again by running them.
  expect(await scriptsMissed(fresh)).toBeGreaterThan(0);
  await old.restart();
  await group.inSync();
  await expectUnharmed(call);
});

test('the primary freezes: it is left when the sentinels have replaced it, and does nothing late when it thaws', async () => {
  await using call = await startCall();
  const old = await group.primary();
  old.freeze();
  expect(await call.bob.refused('room:update', { name: 'late' })).toBe('STORE_UNAVAILABLE');
  await group.failOver();
  await expectUnharmed(call);
  old.thaw();
  await group.inSync();
  await expectUnharmed(call);
  expect((await call.ann.must('room:get')).room.name).not.toBe('late');
});

test('an operator fails over: the demoted primary is left, and both nodes are on the new one', async () => {
  await using call = await startCall();
  const old = await group.primary();
  await group.failOver();
  await expectUnharmed(call);
  await group.inSync();
  expect(await group.ask(old.port, 'CLIENT', 'LIST')).not.toContain('name=signalbox-');
});

test('a primary that is demoted while no sentinel runs is left, not written to, until it is one again', async () => {
  await using call = await startCall();
  const { port } = await group.primary();
  for (const sentinel of group.sentinels) await sentinel.kill();
  const rooms = async (): Promise<unknown> => {
    const headers = { authorization: `Bearer ${OPTIONS.adminToken}` };
    const body: unknown = await (await fetch(`${call.nodes[0].url}/readyz`, { headers })).json();
    return body;
  };
  // It works on, and tells operators what is missing.
  await expect.poll(rooms).toMatchObject({
    ok: true,
    store: 'up',
    stores: { rooms: { state: 'up', reason: 'no sentinel answers' } },
  });
  await expectUnharmed(call);
  const [other] = group.servers.filter((server) => server.port !== port);
  await group.ask(port, 'REPLICAOF', '127.0.0.1', String(other?.port));
  await expect.poll(rooms).toMatchObject({ store: 'down', stores: { rooms: { state: 'down', reason: 'READONLY' } } });
  await eventually(async () => !String(await group.ask(port, 'CLIENT', 'LIST')).includes('name=signalbox-'));
  await group.ask(port, 'REPLICAOF', 'NO', 'ONE');
  await expectUnharmed(call);
  for (const sentinel of group.sentinels) await sentinel.restart();
});
