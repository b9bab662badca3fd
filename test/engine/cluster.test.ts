import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { auditShards } from '../../src/engine/redis/audit.ts';
import { createRedisEngine } from '../../src/engine/redis/index.ts';
import type { NodeId } from '../../src/protocol/ids.ts';
import { slotOf } from '../../src/redis/slots.ts';
import { SHARDS } from '../../src/room/pool.ts';
import { StoreUnavailable } from '../../src/support/store.ts';
import { PATIENCE_MS } from '../support/patience-ms.ts';
import { type RedisCluster, startCluster } from '../support/redis-cluster-of-six.ts';
import { testContract } from './contract.ts';
import { createHandClock, EngineHarness, settingsOf } from './harness.ts';

const TIMEOUT = 4 * PATIENCE_MS;
const shardSlot = (shard: number): number => slotOf(`sb:{s${String(shard).padStart(2, '0')}}:meta`);

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startCluster();
}, TIMEOUT);
afterAll(() => cluster?.[Symbol.asyncDispose]());

const startNode = (nodeId: string): Promise<Engine> =>
  createRedisEngine({ url: cluster.url, deadlineMs: 1_500 })({ ...settingsOf(), nodeId: nodeId as NodeId });

const flush = async (): Promise<void> => {
  for (const master of await cluster.masters()) await cluster.ask(master, 'FLUSHALL');
};

/** Which shards answer. */
async function shardsOf(engine: Engine): Promise<{ readonly up: number[]; readonly down: number[] }> {
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  const outcomes = await Promise.allSettled(shards.map((shard) => engine.apply({ kind: 'stats', shard })));
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreUnavailable);
  }
  return {
    up: shards.filter((shard) => outcomes[shard]?.status === 'fulfilled'),
    down: shards.filter((shard) => outcomes[shard]?.status === 'rejected'),
  };
}

const allUp = (engine: Engine): Promise<void> =>
  vi.waitFor(async () => expect((await shardsOf(engine)).down).toEqual([]), { timeout: PATIENCE_MS, interval: 100 });

test('the slot of a key is that of what stands in its first braces', async () => {
  for (const key of ['foo', 'sb:{s07}:meta', 'a{}b', '{a}{b}', 'ä', 'x{a', 'sbio#/#{ref}:staff#']) {
    const [server = expect.unreachable()] = cluster.servers;
    expect(slotOf(key), key).toBe(await cluster.ask(server, 'CLUSTER', 'KEYSLOT', key));
  }
});

describe('a Cluster', () => {
  let engine: Engine | undefined;
  let key = '';
  let now = (): number => Number.NaN;
  afterAll(() => engine?.close());

  testContract('a Cluster', async (settings, clock) => {
    now = () => clock.now();
    await flush();
    if (key !== JSON.stringify(settings)) {
      await engine?.close();
      engine = undefined;
      key = JSON.stringify(settings);
    }
    engine ??= await createRedisEngine({ url: cluster.url, clock: { now: () => now() }, deadlineMs: 60_000 })(settings);
    return { ...engine, close: async () => {} };
  });
});

test('rooms, nodes, messages and the audit are on all masters', { timeout: TIMEOUT }, async () => {
  await flush();
  const nodes = await Promise.all(['a', 'b', 'c'].map(startNode));
  const [first = expect.unreachable(), second = expect.unreachable()] = nodes;
  expect((await first.nodes()).toSorted()).toEqual(['a', 'b', 'c']);
  const harness = new EngineHarness(first, createHandClock(0));
  await harness.room(['anna']);
  const audits = await auditShards({ url: cluster.url, pool: settingsOf().pool });
  expect(audits.flatMap(({ disagreements }) => disagreements)).toEqual([]);
  expect(audits.reduce((sum, { occupied }) => sum + occupied, 0)).toBe(1);
  const received: unknown[] = [];
  second.fanout.onMessage((message) => received.push(message));
  first.fanout.send('b' as NodeId, { kind: 'evicted', evicted: [] });
  await vi.waitFor(() => expect(received).toHaveLength(1));
  for (const node of nodes) await node.close();
});

test('a slot that moves under load loses no command and no message', { timeout: TIMEOUT }, async () => {
  const [sender, receiver] = await Promise.all([startNode('from'), startNode('to')]);
  const slot = slotOf('sb:node:to');
  const [source, masters] = [await cluster.masterOf(slot), await cluster.masters()];
  const target = masters.find((master) => master !== source) ?? expect.unreachable();
  const [sourceId, targetId] = await Promise.all([source, target].map((it) => cluster.ask(it, 'CLUSTER', 'MYID')));
  await cluster.ask(target, 'CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', String(sourceId));
  await cluster.ask(source, 'CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', String(targetId));
  for (const master of [target, source]) {
    await cluster.ask(master, 'CLUSTER', 'SETSLOT', String(slot), 'NODE', String(targetId));
  }
  let count = 0;
  receiver.fanout.onMessage(() => {
    count += 1;
  });
  await vi.waitFor(() => {
    sender.fanout.send('to' as NodeId, { kind: 'evicted', evicted: [] });
    expect(count).toBeGreaterThan(3);
  }, PATIENCE_MS);
  await allUp(sender);
  await sender.close();
  await receiver.close();
});

test('while a master is frozen or dead only its shards fail, and its replica takes over', {
  timeout: TIMEOUT,
}, async () => {
  await cluster.inSync();
  const [sender, receiver] = await Promise.all([startNode('here'), startNode('there')]);
  await allUp(sender);
  const slot = slotOf('sb:node:there');
  for (const fault of ['freeze', 'kill'] as const) {
    const master = await cluster.masterOf(slot);
    const others = (await cluster.masters()).filter((it) => it !== master);
    const ranges = await Promise.all(
      Array.from({ length: SHARDS }, async (_, shard) => [shard, await cluster.masterOf(shardSlot(shard))] as const),
    );
    const ofOthers = ranges.flatMap(([shard, owner]) => (others.includes(owner) ? [shard] : []));
    await master[fault]();
    const { up } = await shardsOf(sender);
    expect(up).toEqual(expect.arrayContaining(ofOthers));
    await allUp(sender);
    let count = 0;
    receiver.fanout.onMessage(() => {
      count += 1;
    });
    await vi.waitFor(() => {
      sender.fanout.send('there' as NodeId, { kind: 'evicted', evicted: [] });
      expect(count).toBeGreaterThan(0);
    }, PATIENCE_MS);
    if (fault === 'freeze') {
      master.thaw();
      await cluster.inSync();
      await allUp(sender);
    }
  }
  await vi.waitFor(() => expect(sender.health().state).toBe('up'), PATIENCE_MS);
  await sender.close();
  await receiver.close();
});
