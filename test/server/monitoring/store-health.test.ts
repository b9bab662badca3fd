/** What /readyz tells operators about the stores: what each last failed at, and since when. */
import { createClient } from 'redis';
import { expect, test, vi } from 'vitest';
import { loadSqlite } from '../../../src/database/libsql.ts';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { connectClient } from '../../support/client.ts';
import { logLines } from '../../support/log.ts';
import { startNode } from '../../support/memory-node.ts';
import { PATIENCE_MS } from '../../support/patience-ms.ts';
import { temporaryFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';

const ADMIN_TOKEN = 'the-token-of-these-tests';

async function startServer(options: PartialOptions) {
  const { log, lines } = logLines();
  const server = await startNode({ adminToken: ADMIN_TOKEN, nodeId: 'tested', ...options }, { log });
  const readiness = async (headers = { authorization: `Bearer ${ADMIN_TOKEN}` }) => {
    const response = await fetch(`${server.url}/readyz`, { headers });
    return { status: response.status, body: await response.json() };
  };
  /** Waits until an operator is told this of the stores. */
  const tells = (status: number, stores: object) =>
    vi.waitFor(async () => expect(await readiness()).toMatchObject({ status, body: { stores } }), PATIENCE_MS);
  const said = (text: string) => lines().filter(({ msg }) => msg.includes(text));
  return Object.assign(server, { readiness, tells, said, [Symbol.asyncDispose]: () => server.close() });
}

const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);

test('a database that is locked is down for the records and the ledger, and the node is ready: rooms need neither', async () => {
  await using folder = await temporaryFolder();
  const databaseUrl = `sqlite:${folder.path}/shared.db`;
  await using server = await startServer({ databaseUrl });
  await using ann = await connectClient(server.url);
  const [rooms, up] = [
    { state: 'up', since },
    { state: 'up', since },
  ];
  await server.tells(200, { rooms, ledger: up, records: up });
  expect(await server.readiness({ authorization: '' })).toEqual({
    status: 200,
    body: { ok: true, store: 'up', draining: false },
  });

  const other = new (await loadSqlite())(`${folder.path}/shared.db`);
  other.exec('BEGIN IMMEDIATE');
  // More rooms than half of the numbers that were leased: the next block is leased ahead of need, and in vain.
  for (let count = 0; count < 60; count += 1) {
    await ann.must('room:create');
    await ann.must('room:close');
  }
  await server.tells(200, {
    rooms,
    ledger: { state: 'down', reason: 'SQLITE_BUSY', work: 'lease room', since },
    records: { state: 'down', reason: 'SQLITE_BUSY', work: 'record', since },
  });
  other.exec('ROLLBACK');
  other.close();
  // Nobody creates a room: what has failed is tried again by itself.
  await server.tells(200, { rooms, ledger: up, records: up });
  expect((await server.readiness()).body.stores.ledger).not.toHaveProperty('reason');
  for (const line of ['the ledger of references does not work', 'the ledger of references works again'])
    expect(server.said(line)).toHaveLength(1);
  for (const line of ['calls are not recorded', 'calls are recorded again']) expect(server.said(line)).toHaveLength(1);
});

test('a Redis that refuses to write is down for the rooms, the counter and the webhooks, and the node is not ready', async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const webhooks = { webhookUrls: ['https://hooks.example.org/'], webhookSecrets: [`whsec_${'a'.repeat(44)}`] };
  const databaseUrl = `sqlite:${folder.path}/shared.db`;
  await using server = await startServer({ redisUrl: redis.url, databaseUrl, ...webhooks });
  const up = { state: 'up', since };
  await server.tells(200, { rooms: up, counter: up, ledger: up, records: up, webhooks: up });

  const admin = await createClient({ url: redis.url }).connect();
  await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
  const refused = { state: 'down', reason: 'READONLY', since };
  await server.tells(503, { rooms: refused, counter: refused, ledger: up, webhooks: refused });
  expect((await server.readiness({ authorization: '' })).body).not.toHaveProperty('stores');
  await admin.sendCommand(['REPLICAOF', 'NO', 'ONE']);
  admin.destroy();
  await server.tells(200, { rooms: up, counter: up, ledger: up, records: up, webhooks: up });
  for (const store of ['the store', 'the counter of references', 'the queue of webhooks']) {
    expect(server.said(`${store} works again`)).toHaveLength(1);
    expect(server.said(`${store} does not work`).length).toBeGreaterThan(0);
  }
});

test('a key of another type is told by the counter, which nothing else would show: rooms get numbers of the ledger', async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const admin = await createClient({ url: redis.url }).connect();
  await admin.set('sb:ref:4', 'no list');
  await using server = await startServer({ redisUrl: redis.url, databaseUrl: `sqlite:${folder.path}/shared.db` });
  await server.tells(200, { rooms: { state: 'up' }, counter: { state: 'down', work: 'count 4', since } });
  expect(server.said('counting in Redis does not work')).toHaveLength(1);
  admin.destroy();
});
