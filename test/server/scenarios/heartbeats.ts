/** Heartbeats, the user's record in Redis, dead connections, and revisions that reveal lost events. */
import { createClient } from 'redis';
import { expect, vi } from 'vitest';
import { createKeys } from '../../../src/engine/redis/keys.ts';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { shardOf } from '../../../src/room/pool.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import type { Nodes } from '../../support/nodes.ts';
import { startProxy } from '../../support/proxy.ts';
import { flushPushes, hasUserId, joinedPair, storedRoom, tokenOf, welcomeOf } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

const keys = createKeys('sb:');

/** What Redis itself holds of a user; on memory there is nothing to look at from outside. */
async function withRedis(
  { redis }: Nodes,
  look: (admin: ReturnType<typeof createClient>) => Promise<void>,
): Promise<void> {
  if (redis === undefined) return;
  const admin: ReturnType<typeof createClient> = createClient({ url: redis.url });
  await admin.connect();
  try {
    await look(admin);
  } finally {
    admin.destroy();
  }
}

/** Changes the room without announcing it, as if Redis had lost the message. */
async function updateWithoutEvent(nodes: Nodes, { code, ref }: RoomSnapshot, host: TestClient, name: string) {
  const { userId } = host;
  const { session } = welcomeOf(host);
  const change = { subject: 'room', values: { name } } as const;
  const outcome = await nodes.servers[0]?.engine.apply({ kind: 'update', code, ref, userId, session, change });
  return outcome?.ok ? outcome.room : expect.unreachable();
}

/** Asks for the instant again and again, which keeps the asker alive and nobody else. */
async function untilPassed(client: TestClient, ms: number): Promise<void> {
  const { now: began } = await client.must('heartbeat');
  await vi.waitFor(async () => expect((await client.must('heartbeat')).now).toBeGreaterThan(began + ms), {
    interval: 50,
    timeout: ms + 10_000,
  });
}

export const heartbeats: Readonly<Record<string, Scenario>> = {
  async 'the reply to a heartbeat has the time and the revision of the member’s room'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    const first = await ann.must('heartbeat');
    expect(first.rev).toBeNull();
    expect(Math.abs(first.now - Date.now())).toBeLessThan(60_000);
    const { room } = await ann.must('room:create');
    expect((await ann.must('heartbeat', { rev: room.rev })).rev).toBe(room.rev);
    await using ben = await connectClient(nodes.url(1));
    await ben.must('room:join', { code: room.code });
    expect((await ann.must('heartbeat')).rev).toBe(room.rev + 1);
    expect((await ben.must('heartbeat')).now).toBeGreaterThanOrEqual(first.now);
    await ann.must('room:leave');
    expect((await ann.must('heartbeat')).rev).toBeNull();
  },

  async 'a heartbeat refreshes the user’s hash and the lease of the seat'(nodes) {
    await withRedis(nodes, async (admin) => {
      await using pair = await joinedPair(nodes);
      const { ben, room } = pair;
      await ben.must('profile', { mediaType: 'audio' });
      const [hash, { leases }] = [keys.user(ben.userId), keys.shard(shardOf(room.code))];
      const lease = `${room.code} ${ben.userId}`;
      await ben.must('heartbeat');
      expect({ ...(await admin.hGetAll(hash)) }).toMatchObject({
        session: String(welcomeOf(ben).session),
        serverId: welcomeOf(ben).nodeId,
        status: 'online',
        currentRoom: room.code,
        ref: room.ref,
        mediaType: 'audio',
        connectedAt: expect.stringMatching(/^\d{13}$/),
        lastActive: expect.stringMatching(/^\d{13}$/),
      });
      await admin.pExpire(hash, 5_000);
      const before = (await admin.zScore(leases, lease)) ?? expect.unreachable();
      const { now } = await ben.must('heartbeat');
      expect(await admin.pTTL(hash)).toBeGreaterThan(55_000);
      expect(await admin.pTTL(hash)).toBeLessThanOrEqual(60_000);
      expect(Number(await admin.hGet(hash, 'lastActive'))).toBe(now);
      expect(await admin.zScore(leases, lease)).toBeGreaterThan(before);
    });
  },

  async 'the user’s hash follows the user into a room, out of it, away and gone'(nodes) {
    await withRedis(nodes, async (admin) => {
      await using pair = await joinedPair(nodes);
      const { ann, ben, room } = pair;
      const hash = keys.user(ben.userId);
      const field = (name: string) => admin.hGet(hash, name);
      await vi.waitFor(async () => expect(await field('currentRoom')).toBe(room.code));
      ben.cut();
      await ann.next('member:away');
      await vi.waitFor(async () => expect(await field('status')).toBe('away'));
      expect(await admin.pTTL(hash)).toBeGreaterThan(0);
      await using back = await connectClient(nodes.url(0), { resume: tokenOf(ben) });
      await vi.waitFor(async () => expect(await field('serverId')).toBe(welcomeOf(back).nodeId));
      expect(await field('status')).toBe('online');
      await back.must('room:leave');
      await vi.waitFor(async () => expect(await field('currentRoom')).toBeNull());
      back.socket.disconnect();
      await vi.waitFor(async () => expect(await admin.exists(hash)).toBe(0));
    });
  },
};

/** With a short `userTtlMs` and tick. */
export const shortUserTtl: Readonly<Record<string, Scenario>> = {
  async 'a member that sends no heartbeat but answers pings keeps its seat and its record'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await using idle = await connectClient(nodes.url(1));
    await untilPassed(ann, 2 * (nodes.servers[0]?.options.userTtlMs ?? expect.unreachable()));
    expect((await storedRoom(nodes, room)).members).toEqual(room.members);
    expect(ann.all('member:away')).toEqual([]);
    await withRedis(nodes, async (admin) => {
      for (const { userId } of [ben, idle]) expect(await admin.exists(keys.user(userId))).toBe(1);
    });
    // The record knows the seat: that is what a resume finds it by.
    ben.cut();
    await using back = await connectClient(nodes.url(0), { resume: tokenOf(ben) });
    expect(welcomeOf(back).room?.members[1]).toMatchObject({ userId: ben.userId, seq: 2 });
    expect(idle.socket.connected).toBe(true);
  },

  async 'a member that vanishes is away, then leaves once, within bounds'(nodes) {
    const { port } = new URL(nodes.url(1));
    await using link = await startProxy(Number(port));
    await using ann = await connectClient(nodes.url(0));
    const { room } = await ann.must('room:create');
    await using ben = await connectClient(`http://127.0.0.1:${link.port}`);
    await ben.must('room:join', { code: room.code });
    await ann.next('member:joined');
    const began = performance.now();
    link.freeze();
    const away = await ann.next('member:away', hasUserId(ben.userId));
    const left = await ann.next('member:left', hasUserId(ben.userId));
    // Ping, its time-out, the grace and two ticks are 3.3 seconds; the rest is for a machine that has more to do.
    expect(performance.now() - began).toBeLessThan(12_000);
    expect([away.rev, left.rev, left.reason]).toEqual([room.rev + 2, room.rev + 3, 'lost']);
    await flushPushes(ann, ann);
    expect(ann.all('member:left')).toHaveLength(1);
    expect((await storedRoom(nodes, room)).members).toHaveLength(1);
  },

  async 'a tick pushes the revision of a room whose last event was lost'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const changed = await updateWithoutEvent(nodes, room, ann, 'Changed in silence');
    for (const client of [ann, ben]) {
      const told = await client.next('room:rev', ({ rev }) => rev === changed.rev);
      expect(told).toEqual({ code: room.code, ref: room.ref, rev: changed.rev });
      expect((await client.must('room:get')).room).toEqual(changed);
      expect(client.all('room:updated')).toEqual([]);
    }
  },

  async 'the reply to a heartbeat has the revision of a room whose last event was lost'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const changed = await updateWithoutEvent(nodes, room, ann, 'Changed in silence');
    expect((await ben.must('heartbeat', { rev: room.rev })).rev).toBe(changed.rev);
  },

  async 'a client whose seat is gone in the store is disconnected, and resumes without a room'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const { session } = welcomeOf(ben);
    const { code, ref } = room;
    await nodes.servers[0]?.engine.apply({ kind: 'leave', code, ref, userId: ben.userId, session });
    // Not the final kind of close: the client comes back, and is welcomed without a room.
    expect(await ben.closed()).toBe('transport close');
    await using back = await connectClient(nodes.url(1), { resume: tokenOf(ben) });
    expect(welcomeOf(back).room).toBeNull();
    expect((await ann.must('room:get')).room.members).toHaveLength(1);
  },
};
