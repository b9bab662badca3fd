/** A primary that is demoted in place, behind a name that leads to the new one: nodes leave it by themselves. */
import { createClient } from 'redis';
import { expect, test, vi } from 'vitest';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import { eventually } from '../../support/fleet.ts';
import { startNode } from '../../support/memory-node.ts';
import { PATIENCE_MS } from '../../support/patience-ms.ts';
import { temporaryFolder } from '../../support/process.ts';
import { startProxy } from '../../support/proxy.ts';
import { startRedis } from '../../support/redis.ts';
import { retry } from '../../support/retry.ts';
import { tokenOf } from '../scenarios/members.ts';

async function connectAdmin(url: string) {
  const admin = await createClient({ url }).connect();
  return Object.assign(admin, { [Symbol.asyncDispose]: async () => admin.destroy() });
}

async function startServer(options: PartialOptions) {
  const server = await startNode({ secret: 'the secret of these nodes', ...options }, {});
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}

const readiness = async (url: string) => (await fetch(`${url}/readyz`)).status;

test('nodes leave a demoted primary: not ready until then, and every connection of theirs leads to the new one', async () => {
  await using old = await startRedis();
  await using fresh = await startRedis();
  await using name = await startProxy(old.port);
  await using folder = await temporaryFolder();
  const options = { redisUrl: `redis://127.0.0.1:${name.port}`, databaseUrl: `sqlite:${folder.path}/ledger.db` };
  await using oldAdmin = await connectAdmin(old.url);
  await using freshAdmin = await connectAdmin(fresh.url);
  await freshAdmin.sendCommand(['REPLICAOF', '127.0.0.1', String(old.port)]);
  await using first = await startServer(options);
  await using second = await startServer(options);
  await using ann = await connectClient(first.url);
  await using bob = await connectClient(second.url);
  await ann.must('room:create');
  await eventually(async () => (await freshAdmin.info('replication')).includes('master_link_status:up'));

  // The name does not lead to the new primary yet.
  await freshAdmin.sendCommand(['REPLICAOF', 'NO', 'ONE']);
  await oldAdmin.sendCommand(['REPLICAOF', '127.0.0.1', String(fresh.port)]);
  for (const server of [first, second]) await eventually(async () => (await readiness(server.url)) === 503);
  expect(first.engine.health()).toMatchObject({ state: 'down', reason: 'READONLY' });
  expect(await bob.refused('room:create')).toBe('STORE_UNAVAILABLE');

  name.turnTo(fresh.port);
  for (const server of [first, second]) await eventually(async () => (await readiness(server.url)) === 200);
  await eventually(async () => (await bob.ask('room:create')).ok);
  const { room } = await bob.must('room:get');
  await ann.must('room:leave');
  await ann.must('room:join', { code: room.code });
  await ann.must('message', { data: 'over the new primary' });
  expect(await bob.next('message')).toMatchObject({ data: 'over the new primary' });
  await vi.waitFor(
    async () => expect(await oldAdmin.sendCommand(['CLIENT', 'LIST'])).not.toContain('name=signalbox-'),
    PATIENCE_MS,
  );
});

test.each(['state', 'pub', 'sub'])(
  'when the %s connection of a node leads to another server, its others follow',
  async (role) => {
    await using old = await startRedis();
    await using fresh = await startRedis();
    await using address = await startProxy(old.port);
    await using oldAdmin = await connectAdmin(old.url);
    await using first = await startServer({ redisUrl: `redis://127.0.0.1:${address.port}` });
    await using second = await startServer({ redisUrl: `redis://127.0.0.1:${address.port}` });

    // The old server refuses nothing: no error tells that it is the wrong one.
    address.turnTo(fresh.port);
    for (const { id, name } of await oldAdmin.clientList())
      if (name === `signalbox-${role}`) await oldAdmin.sendCommand(['CLIENT', 'KILL', 'ID', String(id)]);

    await vi.waitFor(
      async () => expect(await oldAdmin.sendCommand(['CLIENT', 'LIST'])).not.toContain('name=signalbox-'),
      PATIENCE_MS,
    );
    for (const server of [first, second]) await eventually(async () => (await readiness(server.url)) === 200);
    await using ann = await connectClient(first.url);
    await using bob = await connectClient(second.url);
    // The new server is another one: it recovers first.
    const { room } = await retry(() => ann.must('room:create'));
    await bob.must('room:join', { code: room.code });
    await ann.must('message', { data: 'over the new server' });
    expect(await bob.next('message')).toMatchObject({ data: 'over the new server' });
  },
);

test('a member whose connection is lost for a moment keeps its seat when memory is short', async () => {
  await using redis = await startRedis();
  await using server = await startServer({ redisUrl: redis.url });
  await using admin = await connectAdmin(redis.url);
  await using ann = await connectClient(server.url);
  await using bob = await connectClient(server.url);
  const { room } = await ann.must('room:create');
  await bob.must('room:join', { code: room.code });
  await admin.configSet('maxmemory', '1');
  bob.cut();
  await ann.next('member:away');
  await using back = new TestClient(server.url, { resume: tokenOf(bob) });
  expect((await back.next('welcome')).room?.ref).toBe(room.ref);
  await ann.next('member:back');
  await expect(connectClient(server.url)).rejects.toThrow('STORE_UNAVAILABLE');
  await eventually(async () => (await readiness(server.url)) === 503);
  await admin.configSet('maxmemory', '0');
  await eventually(async () => (await readiness(server.url)) === 200);
  expect(ann.all('member:left')).toEqual([]);
});

test.each([
  ['without memory', 'maxmemory', '1', '0', 'OOM'],
  ['without enough replicas', 'min-replicas-to-write', '1', '0', 'NOREPLICAS'],
])(
  'while Redis refuses to write, %s, members of two nodes still hear messages and signals',
  async (_why, setting, refusing, usual, reason) => {
    await using redis = await startRedis();
    await using first = await startServer({ redisUrl: redis.url });
    await using second = await startServer({ redisUrl: redis.url });
    await using admin = await connectAdmin(redis.url);
    await using ann = await connectClient(first.url);
    await using bob = await connectClient(second.url);
    const { room } = await ann.must('room:create');
    await bob.must('room:join', { code: room.code });
    await admin.configSet(setting, refusing);
    for (const { engine } of [first, second])
      await eventually(async () => engine.health().state === 'down' && engine.health().reason === reason);
    await ann.must('message', { data: 'to the other node' });
    expect(await bob.next('message')).toMatchObject({ data: 'to the other node' });
    await bob.must('message', { data: 'and back' });
    expect(await ann.next('message', ({ data }) => data === 'and back')).toBeDefined();
    await ann.must('signal', { to: bob.userId, data: 1 });
    expect(await bob.next('signal')).toMatchObject({ data: 1 });
    // The health is that of the store: it cannot take new rooms.
    expect(await readiness(first.url)).toBe(503);
    await admin.configSet(setting, usual);
    await eventually(async () => (await readiness(first.url)) === 200);
  },
);
