/** Redis loses its state, and the nodes give it back: by the wire, what clients notice of it. */
import { createClient } from 'redis';
import { describe, expect, test } from 'vitest';
import { auditShards } from '../../../src/engine/redis/audit.ts';
import { createPool } from '../../../src/room/pool.ts';
import { Clients, until } from '../../client/harness.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import { eventually } from '../../support/fleet.ts';
import { type Nodes, startNodes } from '../../support/nodes.ts';

/** Recovery lasts for a tick at most. */
const OPTIONS = { tickMs: 1000, userTtlMs: 20_000, graceMs: 5000, codeCooldownMs: 60_000, freeMisses: 10_000 };

async function redisOf({ redis }: Nodes) {
  if (redis === undefined) throw new Error('these nodes are on Redis');
  const client = createClient({ url: redis.url });
  client.on('error', () => {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: async () => client.destroy() });
}

async function expectSoundPool({ redis }: Nodes): Promise<void> {
  const shards = await auditShards({ url: redis?.url ?? '', pool: createPool(6) });
  expect(shards.flatMap(({ disagreements }) => disagreements)).toEqual([]);
}

/** Asks until it is granted, as long as the error may be repeated. */
async function granted<Reply extends { ok: boolean }>(
  ask: () => Promise<Reply>,
): Promise<Extract<Reply, { ok: true }>> {
  let reply = await ask();
  await eventually(async () => {
    if (!reply.ok) reply = await ask();
    return reply.ok;
  });
  return reply as Extract<Reply, { ok: true }>;
}

const roomOf = async (client: TestClient) => (await granted(() => client.ask('room:get'))).room;

/** A host on one node and a guest on the other. */
async function pair(nodes: Nodes) {
  const host = await connectClient(nodes.url(0), { name: 'Host' });
  const guest = await connectClient(nodes.url(1), { name: 'Guest' });
  const { room } = await host.must('room:create', { name: 'Kitchen', metadata: { table: 7 } });
  await guest.must('room:join', { code: room.code });
  return { host, guest, code: room.code, ref: room.ref, clients: [host, guest] };
}

const noDisconnects = (clients: readonly TestClient[]) => {
  for (const client of clients) {
    expect(client.socket.connected).toBe(true);
    expect(client.all('member:left').filter(({ reason }) => reason !== 'kicked')).toEqual([]);
    expect(client.all('member:away')).toEqual([]);
    expect(client.all('room:closed')).toEqual([]);
  }
};

describe('all keys of Redis are deleted', () => {
  test('calls go on, and every room can be joined by its code, with its lock, metadata, host and bans', async () => {
    await using nodes = await startNodes({ kind: 'redis', count: 2 }, OPTIONS);
    const pairs = await Promise.all(Array.from({ length: 20 }, () => pair(nodes)));
    await using banned = await connectClient(nodes.url(1));
    const [first, second, third] = pairs;
    if (!first || !second || !third) throw new Error('there are twenty');
    await banned.must('room:join', { code: first.code });
    await first.host.must('room:kick', { userId: banned.userId, ban: true });
    await second.host.must('room:update', { locked: true, metadata: { table: 8 } });
    await third.guest.must('profile', { name: 'Renamed', metadata: { seat: 'window' } });
    await using late = await connectClient(nodes.url(0));
    const closed = await late.must('room:create');
    await late.must('room:close');
    const creates = await connectClient(nodes.url(1));
    await using redis = await redisOf(nodes);
    await redis.flushAll();
    const since = performance.now();

    const fresh = await granted(() => creates.ask('room:create'));
    expect(performance.now() - since).toBeLessThan(6000);
    for (const { host, guest, ref } of pairs) {
      for (const client of [host, guest]) {
        const room = await roomOf(client);
        expect(room).toMatchObject({ ref, hostId: host.userId, name: 'Kitchen' });
        expect(room?.members.map(({ userId, seq, state }) => [userId, seq, state])).toEqual([
          [host.userId, 1, 'present'],
          [guest.userId, 2, 'present'],
        ]);
      }
      await guest.must('signal', { to: host.userId, data: 'still here' });
    }
    expect(await roomOf(second.guest)).toMatchObject({ locked: true, metadata: { table: 8 } });
    expect((await roomOf(third.host))?.members[1]).toMatchObject({ name: 'Renamed', metadata: { seat: 'window' } });
    expect(await late.refused('room:join', { code: second.code })).toBe('ROOM_LOCKED');
    await using again = await connectClient(nodes.url(0), { resume: banned.all('welcome')[0]?.resume ?? '' });
    expect(await again.refused('room:join', { code: first.code })).toBe('BANNED');
    const codes = [fresh.room.code, ...pairs.map(({ code }) => code)];
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes).not.toContain(closed.room.code);
    noDisconnects(pairs.flatMap(({ clients }) => clients));
    for (const { code, ref } of pairs.slice(2)) {
      await using joiner = await connectClient(nodes.url(1));
      expect((await joiner.must('room:join', { code })).room.ref).toBe(ref);
    }
    const shard = String(Number(closed.room.code) % 100).padStart(2, '0');
    expect(await redis.keys(`*${shard}*cooling`)).not.toEqual([]);
    await expectSoundPool(nodes);
    for (const { clients } of pairs) for (const client of clients) await client[Symbol.asyncDispose]();
    await creates[Symbol.asyncDispose]();
  });
});

test('Redis goes back to an old dump: the SDK and raw clients agree on who is there, and no revision runs backwards', async () => {
  // Longer than what is promised: nothing may depend on the end of the grace.
  await using nodes = await startNodes({ kind: 'redis', count: 2 }, { ...OPTIONS, graceMs: 40_000, userTtlMs: 40_000 });
  await using clients = new Clients();
  const { host, guest, code, ref } = await pair(nodes);
  const observer = await clients.connect(nodes.url(1), { name: 'Observer' }).join(code);
  await using gone = await connectClient(nodes.url(1), { name: 'Gone' });
  await gone.must('room:join', { code });
  {
    await using admin = await redisOf(nodes);
    await admin.sendCommand(['SAVE']);
  }
  await gone.must('room:leave');
  await using late = await connectClient(nodes.url(0), { name: 'Late' });
  await late.must('room:join', { code });
  await host.must('room:update', { metadata: { table: 9 } });
  const before = (await host.must('room:get')).room.rev;
  await nodes.redis?.restart();
  const since = performance.now();

  const truth = [host.userId, guest.userId, observer.self.userId, late.userId].sort();
  const namesOf = (members: readonly { readonly userId: string }[]) => members.map(({ userId }) => userId).sort();
  // The old dump has the seat of the member that has left: its node knows.
  await eventually(async () => namesOf((await roomOf(host))?.members ?? []).join() === truth.join());
  expect(performance.now() - since).toBeLessThan(15_000);
  const room = await roomOf(guest);
  expect(room).toMatchObject({ ref, code, hostId: host.userId, metadata: { table: 9 } });
  expect(room?.rev).toBeGreaterThan(before + 1);
  await until(observer, ({ members, rev }) => rev >= (room?.rev ?? 0) && namesOf(members).join() === truth.join());
  expect(observer.snapshot.metadata).toEqual({ table: 9 });
  // A raw client that stands where it was before is told of the revision.
  await late.next('room:rev', ({ rev }) => rev > before + 1);
  for (const client of [host, guest, late]) await client[Symbol.asyncDispose]();
});
