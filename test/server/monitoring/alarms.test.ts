/** Alarms for operators reach back ends as events of the feed. */
import { join } from 'node:path';
import Sqlite from 'libsql';
import { expect, test, vi } from 'vitest';
import { createServer } from '../../../src/index.ts';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { connectClient } from '../../support/client.ts';
import { startNodes, TOPOLOGIES } from '../../support/nodes.ts';
import { temporaryFolder } from '../../support/process.ts';

const ADMIN_TOKEN = 'the-operator-of-these-tests';
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const HERE: PartialOptions = { host: '127.0.0.1', port: 0, demo: false };

test.each(TOPOLOGIES)('a low pool causes one event, whichever node is first: $name', async (topology) => {
  await using nodes = await startNodes(topology, {
    poolSize: 100,
    poolLowWater: 0.99,
    tickMs: 100,
    adminToken: ADMIN_TOKEN,
  });
  const feeds = nodes.servers.map(({ engine }) => engine.feed);
  const alarms = async () => {
    const page = await feeds[0]?.read({ limit: 1_000 });
    return page?.events.filter(({ type }) => type === 'pool_low');
  };
  await using ann = await connectClient(nodes.url(0));
  for (let room = 0; room < 3; room += 1) await ann.must('room:create');
  await vi.waitFor(async () => expect(await alarms()).toHaveLength(1));
  expect(await alarms()).toEqual([
    expect.objectContaining({ total: 100, cooling: 0, code: null, ref: null, rev: null, userId: null }),
  ]);
  // A node that has not seen the event yet may announce it again with the next room: the repetition is suppressed.
  await ann.must('room:create');
  for (const node of nodes.servers.keys()) {
    const isLow = async () =>
      ((await (await fetch(`${nodes.url(node)}/readyz`, { headers: ADMIN })).json()) as { pool: { low: boolean } }).pool
        .low;
    await vi.waitFor(async () => expect(await isLow()).toBe(true));
  }
  expect(await alarms()).toHaveLength(1);
});

test('a ledger that was set back causes an event', async () => {
  await using folder = await temporaryFolder();
  const options = { ...HERE, dataDir: folder.path };
  const before = await createServer(options);
  const ann = await connectClient(before.url);
  const { ref } = (await ann.must('room:create')).room;
  ann.socket.disconnect();
  await before.close();
  // The state after the ledger is restored from a backup: the call records contain a later reference.
  const database = new Sqlite(join(folder.path, 'signalbox.db'));
  database.exec('UPDATE signalbox_seeds SET seed = 0, previous = 0');
  database.close();
  const after = await createServer(options);
  const { events } = await after.engine.feed.read({ limit: 10 });
  await after.close();
  expect(events).toEqual([
    expect.objectContaining({
      type: 'reference_alarm',
      itemType: 'room',
      seed: 0,
      inUse: Number(ref.slice('ROM2026'.length)),
    }),
  ]);
});
