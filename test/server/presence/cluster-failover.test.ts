/** Three servers on a Cluster whose masters fail: what fails with a master, and what does not. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { RoomCode } from '../../../src/protocol/ids.ts';
import { slotOf } from '../../../src/redis/cluster/slots.ts';
import { shardOf } from '../../../src/room/pool.ts';
import type { SignalboxServer } from '../../../src/server/signalbox.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import { eventually } from '../../support/fleet.ts';
import { startNode } from '../../support/memory-node.ts';
import { PATIENCE_MS } from '../../support/patience-ms.ts';
import type { RedisServer } from '../../support/redis.ts';
import { type RedisCluster, startCluster } from '../../support/redis-cluster-of-six.ts';

/** Seats that are not renewed in time would be lost within a test. */
const OPTIONS = { userTtlMs: 12_000, tickMs: 500, secret: 'the secret of these nodes' };
const TIMEOUT = 4 * PATIENCE_MS;

let cluster: RedisCluster;
let servers: readonly SignalboxServer[] = [];
beforeAll(async () => {
  cluster = await startCluster();
  // One after the other, because a start has a deadline, and a busy machine may miss it.
  for (let number = 0; number < 3; number += 1) {
    const start = () => startNode({ redisUrl: cluster.url, nodeId: `node-${number}`, ...OPTIONS }, {});
    servers = [...servers, await vi.waitFor(start, PATIENCE_MS)];
  }
}, TIMEOUT);
afterAll(async () => {
  for (const server of servers) await server.close();
  await cluster?.[Symbol.asyncDispose]();
});

/** A room with a member on each of two servers. */
interface Call {
  readonly code: RoomCode;
  readonly master: RedisServer;
  readonly ann: TestClient;
  readonly bob: TestClient;
}

const masterOf = (code: RoomCode): Promise<RedisServer> =>
  cluster.masterOf(slotOf(`sb:{s${String(shardOf(code)).padStart(2, '0')}}:meta`));

const urlOf = (number: number): string => servers[number % servers.length]?.url ?? expect.unreachable();

async function startCall(number: number): Promise<Call> {
  const [ann, bob] = [await connectClient(urlOf(number)), await connectClient(urlOf(number + 1))];
  const { code } = (await ann.must('room:create')).room;
  await bob.must('room:join', { code });
  return { code, ann, bob, master: await masterOf(code) };
}

let count = 0;

/** Resolves when a signal and a message sent from now on are received, both ways. */
async function expectTraffic({ ann, bob }: Call): Promise<void> {
  for (const [from, to] of [[ann, bob] as const, [bob, ann] as const]) {
    count += 1;
    const number = count;
    await eventually(async () => (await from.ask('signal', { to: to.userId, data: number })).ok);
    await to.next('signal', ({ data }) => data === number);
    await eventually(async () => (await from.ask('message', { data: number })).ok);
    await to.next('message', ({ data }) => data === number);
  }
}

async function expectUnharmed(call: Call): Promise<void> {
  await expectTraffic(call);
  for (const client of [call.ann, call.bob]) {
    await eventually(async () => (await client.ask('room:get')).ok);
    const { room } = await client.must('room:get');
    expect(room.members.map(({ state }) => state)).toEqual(['present', 'present']);
    expect(client.socket.connected).toBe(true);
    expect(client.all('member:left')).toEqual([]);
    expect(client.all('member:away')).toEqual([]);
  }
}

const scriptsMissed = async (server: RedisServer): Promise<number> =>
  Number(/errorstat_NOSCRIPT:count=(\d+)/.exec(String(await cluster.ask(server, 'INFO', 'errorstats')))?.[1] ?? 0);

test.each([
  ['is killed', (master: RedisServer) => master.kill(), (master: RedisServer) => master.restart()],
  ['freezes', async (master: RedisServer) => master.freeze(), async (master: RedisServer) => master.thaw()],
])(
  'a master %s: only its rooms are refused until its replica takes over, and no member is lost',
  async (_how, fail, repair) => {
    await cluster.inSync();
    const calls: Call[] = [];
    for (let number = 0; number < 6 || new Set(calls.map(({ master }) => master)).size < 3; number += 1) {
      calls.push(await startCall(number));
    }
    const [{ master: victim } = expect.unreachable()] = calls;
    const spared = calls.filter(({ master }) => master !== victim);
    const codes = new Set(calls.map(({ code }) => code));
    await fail(victim);
    // The codes of new rooms are drawn in any shard: those of the failed master are passed over, or refused.
    for (const { ann } of spared) expect((await ann.ask('room:get')).ok).toBe(true);
    const refused = calls.filter(({ master }) => master === victim);
    expect(await refused[0]?.ann.refused('room:get')).toBe('STORE_UNAVAILABLE');
    for (const call of calls) await expectUnharmed(call);
    const [{ code } = expect.unreachable()] = refused;
    const fresh = await masterOf(code);
    expect(fresh).not.toBe(victim);
    expect(await scriptsMissed(fresh)).toBeGreaterThan(0);
    for (let number = 0; number < 10; number += 1) {
      await using eve = await connectClient(urlOf(number));
      let created: RoomCode | undefined;
      await eventually(async () => {
        const reply = await eve.ask('room:create');
        if (reply.ok) created = reply.room.code;
        return reply.ok;
      });
      if (created === undefined) expect.unreachable();
      expect(codes.has(created)).toBe(false);
      codes.add(created);
    }
    await repair(victim);
    await cluster.inSync();
    for (const call of calls) await expectUnharmed(call);
    for (const server of servers) await eventually(async () => (await fetch(`${server.url}/readyz`)).status === 200);
    for (const { ann, bob } of calls) for (const client of [ann, bob]) await client[Symbol.asyncDispose]();
  },
  TIMEOUT,
);
