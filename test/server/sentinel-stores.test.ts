/** What is kept beside rooms, over a failover that loses the last seconds of writes: references, webhooks, call records, the audit. */
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { auditShards } from '../../src/engine/redis/audit.ts';
import type { RoomRef } from '../../src/protocol/ids.ts';
import { findCall } from '../../src/records/read.ts';
import { createPool } from '../../src/room/pool.ts';
import type { SignalboxServer } from '../../src/server/signalbox.ts';
import { connectClient } from '../support/client.ts';
import { eventually } from '../support/fleet.ts';
import { startNode } from '../support/memory-node.ts';
import { temporaryFolder } from '../support/process.ts';
import { startSentinelGroup } from '../support/redis-sentinel.ts';
import { SECRET } from '../webhooks/harness.ts';
import { startReceiver } from '../webhooks/receiver.ts';

const ROOMS = 4;

/** Creates and closes rooms on every node; repeats what is refused. @returns their refs. */
async function runRooms(nodes: readonly SignalboxServer[]): Promise<RoomRef[]> {
  const refs: RoomRef[] = [];
  for (const node of nodes) {
    await using client = await connectClient(node.url);
    for (let count = 0; count < ROOMS; count += 1) {
      await eventually(async () => {
        const reply = await client.ask('room:create');
        if (reply.ok) refs.push(reply.room.ref);
        return reply.ok;
      });
      await client.ask('room:close');
    }
  }
  return refs;
}

/** Closes what was added, last first. */
class Owned implements AsyncDisposable {
  readonly #resources: { close(): Promise<void> }[] = [];

  add<T extends { close(): Promise<void> }>(resource: T): T {
    this.#resources.unshift(resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.#resources) await resource.close();
  }
}

test('a failover that loses the last writes repeats no reference, and webhooks, records and the audit go on', async () => {
  await using group = await startSentinelGroup();
  await using folder = await temporaryFolder();
  await using receiver = await startReceiver();
  const databaseUrl = `sqlite:${folder.path}/signalbox.db`;
  const options = {
    redisUrl: group.url,
    databaseUrl,
    secret: 'the secret of these nodes',
    webhookUrls: [receiver.url],
    webhookSecrets: [SECRET],
    webhookAllowPrivate: true,
  };
  await using owned = new Owned();
  const nodes = [owned.add(await startNode(options, {})), owned.add(await startNode(options, {}))];
  expect(nodes[0]?.references).toMatch(/^counted/);

  const kept = await runRooms(nodes);
  await group.stallReplication();
  const lost = await runRooms(nodes);
  const old = await group.primary();
  await group.ask(old.port, 'SET', 'last-write', 'lost');
  await old.kill();
  const fresh = await group.failOver();
  expect(await group.ask(fresh.port, 'EXISTS', 'last-write')).toBe(0);
  await group.resumeReplication();
  for (const node of nodes) await eventually(async () => (await fetch(`${node.url}/readyz`)).status === 200);
  const after = await runRooms(nodes);

  const refs = [...kept, ...lost, ...after];
  expect(new Set(refs).size).toBe(refs.length);
  const ended = () =>
    receiver.received.filter(({ event }) => event.type === 'room_destroyed').map(({ event }) => event.ref);
  await receiver.until(() => [...kept, ...after].every((ref) => ended().includes(ref)));
  const database = owned.add(openDatabase(databaseUrl));
  for (const ref of [...kept, ...after]) {
    await eventually(async () => (await findCall(database, ref))?.endedAt !== undefined);
  }
  const shards = await auditShards({ url: group.url, pool: createPool(6) });
  expect(shards.flatMap(({ disagreements }) => disagreements)).toEqual([]);
});
