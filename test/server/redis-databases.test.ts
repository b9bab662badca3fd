/** Keys belong to a database of Redis, channels to the whole server: deployments in two databases must have none in common. */
import { join } from 'node:path';
import { createClient } from 'redis';
import { expect, test } from 'vitest';
import type { PartialOptions } from '../../src/server/options/options.ts';
import { connectClient, type TestClient } from '../support/client.ts';
import { startNode } from '../support/memory-node.ts';
import { temporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { retry } from '../support/retry.ts';

async function connectAdmin(url: string) {
  const admin = await createClient({ url }).connect();
  return Object.assign(admin, { [Symbol.asyncDispose]: async () => admin.destroy() });
}

async function startServer(options: PartialOptions) {
  const server = await startNode(options, {});
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() });
}

/** Names of what a client was pushed, but for what tells of its own connection. */
const namesOf = ({ heard }: TestClient) => heard.map(({ name }) => name).filter((name) => name !== 'welcome');

test('servers in two databases of one Redis do not hear each other, of equal node names and refs', async () => {
  await using redis = await startRedis();
  await using folder = await temporaryFolder();
  const optionsOf = (number: number): PartialOptions => ({
    nodeId: 'same',
    redisUrl: `${redis.url}/${number}`,
    databaseUrl: `sqlite:${join(folder.path, `${number}.db`)}`,
  });
  await using first = await startServer(optionsOf(0));
  await using second = await startServer(optionsOf(1));
  await using third = await startServer({ ...optionsOf(1), nodeId: 'another' });
  await using admin = await connectAdmin(redis.url);
  const published: string[] = [];
  await admin.subscribe('sb:room:events', (text) => published.push(text));

  await using ann = await connectClient(first.url);
  await using bob = await connectClient(second.url);
  await using ben = await connectClient(third.url);
  const { room } = await ann.must('room:create');
  const other = await bob.must('room:create');
  expect(other.room.ref).toBe(room.ref);
  await ben.must('room:join', { code: other.room.code });
  await bob.next('member:joined');
  await using cat = await connectClient(first.url);
  await cat.must('room:join', { code: room.code });
  await ann.must('message', { data: 'of the first' });
  await ann.must('room:update', { name: 'of the first' });
  await ann.must('room:kick', { userId: cat.userId, ban: true });
  await ann.must('room:close');

  // Over two nodes of the second deployment: whatever had leaked from the first would have come before.
  await ben.must('message', { data: 'of the second' });
  expect(await bob.next('message')).toMatchObject({ data: 'of the second', from: ben.userId });
  expect(namesOf(bob)).toEqual(['member:joined', 'message']);
  await bob.must('message', { data: 'of the second too' });
  await ben.next('message', ({ data }) => data === 'of the second too');
  for (const leaked of ['of the first', ann.userId, cat.userId])
    expect(JSON.stringify(ben.heard)).not.toContain(leaked);
  expect(await first.engine.nodes()).toEqual(['same']);
  expect((await second.engine.nodes()).toSorted()).toEqual(['another', 'same']);
  expect(first.engine.feed.name).not.toBe(second.engine.feed.name);
  const actors = published.map((text) => JSON.parse(text).userId);
  expect(actors).toContain(ann.userId);
  expect(actors).not.toContain(bob.userId);
});

test('a copy of a database beside it in one Redis does not hear the original', async () => {
  await using redis = await startRedis();
  await using original = await startServer({ redisUrl: redis.url });
  await using ann = await connectClient(original.url);
  const { room } = await ann.must('room:create');
  await using admin = await connectAdmin(redis.url);
  for (const key of await admin.keys('*')) await admin.copy(key, key, { DB: 2 });
  await using copy = await startServer({ redisUrl: `${redis.url}/2` });
  await using bob = await connectClient(copy.url);
  expect((await bob.must('room:join', { code: room.code })).room.ref).toBe(room.ref);
  await bob.must('message', { data: 'of the copy' });
  await ann.must('message', { data: 'of the original' });
  await bob.must('room:leave');
  await ann.must('message', { data: 'the last' });
  await ann.next('message', ({ data }) => data === 'the last');
  expect(ann.all('message').map(({ data }) => data)).toEqual(['of the original', 'the last']);
  expect(ann.all('member:joined')).toEqual([]);
  expect(bob.all('message').map(({ data }) => data)).toEqual(['of the copy']);
});

test.each([0, 3])(
  'a flush does not split a deployment in database %i: nodes of before and after it hear each other',
  async (number) => {
    await using redis = await startRedis();
    const redisUrl = `${redis.url}/${number}`;
    await using before = await startServer({ redisUrl, secret: 'the secret of these nodes' });
    await using admin = await connectAdmin(redis.url);
    await admin.flushAll();
    await using after = await startServer({ redisUrl, secret: 'the secret of these nodes' });
    await using ann = await connectClient(before.url);
    await using bob = await connectClient(after.url);
    // Refused for a moment: the nodes are asked first whether they have rooms to restore.
    const { room } = await retry(() => ann.must('room:create'));
    await bob.must('room:join', { code: room.code });
    await ann.next('member:joined');
    await bob.must('message', { data: 'over the flush' });
    expect(await ann.next('message')).toMatchObject({ data: 'over the flush' });
    expect((await before.engine.nodes()).toSorted()).toEqual([before.nodeId, after.nodeId].toSorted());
  },
);
