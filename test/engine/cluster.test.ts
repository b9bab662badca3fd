import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { auditShards } from '../../src/engine/redis/audit.ts';
import { createRedisEngine } from '../../src/engine/redis/index.ts';
import type { NodeId } from '../../src/protocol/ids.ts';
import { slotOf } from '../../src/redis/cluster/slots.ts';
import { SHARDS } from '../../src/room/pool.ts';
import { StoreUnavailable } from '../../src/support/store.ts';
import { refOf, SHARD } from '../room/fixtures.ts';
import { PATIENCE_MS } from '../support/patience-ms.ts';
import { startRedis } from '../support/redis.ts';
import { type RedisCluster, startCluster } from '../support/redis-cluster-of-six.ts';
import { testContract } from './contract.ts';
import { createHandClock, EngineHarness, NODE, settingsOf } from './harness.ts';

const TIMEOUT = 4 * PATIENCE_MS;
const shardSlot = (shard: number): number => slotOf(`sb:{s${String(shard).padStart(2, '0')}}:meta`);

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startCluster();
}, TIMEOUT);
afterAll(() => cluster?.[Symbol.asyncDispose]());

/** On a busy machine its first connections may take longer than the deadline of a start. */
const startNode = (nodeId: string, settings = settingsOf()): Promise<Engine> =>
  vi.waitFor(
    () => createRedisEngine({ url: cluster.url, deadlineMs: 1_500 })({ ...settings, nodeId: nodeId as NodeId }),
    PATIENCE_MS,
  );

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
    engine ??= await vi.waitFor(
      () => createRedisEngine({ url: cluster.url, clock: { now: () => now() }, deadlineMs: 60_000 })(settings),
      PATIENCE_MS,
    );
    return { ...engine, close: async () => {} };
  });
});

test('rooms, nodes, messages and the audit are on all masters', { timeout: TIMEOUT }, async () => {
  await flush();
  const nodes = await Promise.all(['a', 'b', 'c'].map((id) => startNode(id)));
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

test('messages to a node arrive again after the slot of its channel has moved', { timeout: TIMEOUT }, async () => {
  const [sender, receiver] = await Promise.all([startNode('from'), startNode('to')]);
  const slot = slotOf('sb:node:to');
  await cluster.moveSlot(slot);
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

/** A client of a store that refuses from time to time: repeats what was refused, however often. */
async function repeated<Reply extends { readonly ok: boolean }>(
  refusals: { count: number },
  send: () => Promise<Reply>,
): Promise<Reply> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      refusals.count += 1;
    }
  }
}

test('while the slot of a shard moves with its rooms, no command is done in part and no code is given twice', {
  timeout: TIMEOUT,
}, async () => {
  await flush();
  const pool = settingsOf(600).pool;
  const nodes = await Promise.all(['one', 'two'].map((id) => startNode(id, settingsOf(600))));
  const held = new Map<string, string>();
  const refusals = { count: 0 };
  const others = { done: 0 };
  let moving = true;
  const guests = nodes.map(async (engine, index) => {
    const harness = new EngineHarness(engine, createHandClock(0));
    for (let number = 0; moving; number += 1) {
      const name = `anna-${index}-${number}`;
      const ref = refOf(1_000_000 * (index + 1) + number);
      const created = await repeated(refusals, () => harness.create(name, { ref, idempotencyKey: name }));
      const [code, made] = created.ok ? [created.room.code, ref] : 'code' in created ? [created.code, created.ref] : [];
      if (code === undefined || made === undefined) throw new Error('the pool is exhausted');
      expect(made).toBe(ref);
      expect(held.has(code), `${code} was given twice`).toBe(false);
      held.set(code, ref);
      const room = { code, ref };
      expect((await repeated(refusals, () => harness.join(room, 'bob'))).ok).toBe(true);
      await repeated(refusals, () => harness.leave(room, 'bob'));
      if (number % 3 > 0) continue;
      await repeated(refusals, () => harness.byOwner({ kind: 'close' }, room));
      held.set(code, 'closed');
    }
  });
  const bystander = (async () => {
    const [engine = expect.unreachable()] = nodes;
    while (moving) {
      for (const shard of [SHARD + 1, SHARD + 2]) await engine.apply({ kind: 'stats', shard });
      others.done += 1;
    }
  })();
  await vi.waitFor(() => expect(held.size).toBeGreaterThan(20), PATIENCE_MS);
  for (let round = 0; round < 2; round += 1) {
    const [refusedBefore, heldBefore] = [refusals.count, held.size];
    await cluster.moveSlot(shardSlot(SHARD), () =>
      // Half of the keys are here and half there, for as long as it takes both nodes to be refused.
      vi.waitFor(() => expect(refusals.count).toBeGreaterThan(refusedBefore + 2), PATIENCE_MS),
    );
    await vi.waitFor(() => expect(held.size).toBeGreaterThan(heldBefore + 20), PATIENCE_MS);
  }
  moving = false;
  await Promise.all([...guests, bystander]);
  const audits = await auditShards({ url: cluster.url, pool });
  expect(audits.flatMap(({ disagreements }) => disagreements)).toEqual([]);
  const rooms = [...held.values()].filter((ref) => ref !== 'closed').length;
  expect(audits[SHARD]).toMatchObject({ occupied: rooms, cooling: held.size - rooms, seats: rooms });
  expect(others.done).toBeGreaterThan(0);
  for (const node of nodes) await node.close();
  await flush(); // the other tests have another pool
});

test('a start is refused on a master that evicts, on a server that is no Cluster, and on one of several masters', {
  timeout: TIMEOUT,
}, async () => {
  const start = (url: string): Promise<Engine> => createRedisEngine({ url })({ ...settingsOf(), nodeId: NODE });
  const [, master = expect.unreachable()] = await cluster.masters();
  await expect(start(master.url)).rejects.toThrow(/is one of 3 masters of a Cluster: use redis\+cluster:\/\//);
  await cluster.ask(master, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
  await expect(start(cluster.url)).rejects.toThrow(`127.0.0.1:${master.port}, a master of the Cluster,`);
  await cluster.ask(master, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  await using alone = await startRedis();
  await expect(start(`redis+cluster://127.0.0.1:${alone.port}`)).rejects.toThrow('it is not a Cluster: use redis://');
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
