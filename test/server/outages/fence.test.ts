/** A node that has lost Redis alone moves its clients to the others before their leases end. */
import { expect, test, vi } from 'vitest';
import { connectClient, TestClient } from '../../support/client.ts';
import { PATIENCE_MS } from '../../support/patience-ms.ts';
import { tokenOf } from '../scenarios/members.ts';
import { LEASE_MS, type LinkedNode, startLinkedNodes } from './linked-nodes.ts';

const PATIENT = { timeout: PATIENCE_MS, interval: 50 };
const MEMBERS = 6;
/** Longer than in the other tests: the clients of a busy machine must come back within a third of it. */
const OPTIONS = { userTtlMs: 3 * LEASE_MS };

const readiness = async ({ url }: LinkedNode) => (await fetch(`${url}/readyz`)).status;
const peersKnown = ({ server }: LinkedNode) => server.engine.fanout.peers().length;

/** As the SDK does: comes back at another node when it is asked to, or when its connection is lost. */
async function comeBack(client: TestClient, url: string): Promise<TestClient> {
  await client.next('server:drain');
  const back = new TestClient(url, { resume: tokenOf(client) });
  expect(await back.next('welcome')).toMatchObject({ userId: client.userId, room: { members: expect.anything() } });
  return back;
}

test.each(['cut', 'freeze'] as const)(
  'a node whose link to Redis is lost (%s) while others have theirs moves its clients, and nobody leaves',
  async (fault) => {
    await using nodes = await startLinkedNodes(2, OPTIONS);
    const [here, there] = [nodes.node(0), nodes.node(1)];
    await using host = await connectClient(there.url);
    const { room } = await host.must('room:create');
    const members: TestClient[] = [];
    for (let number = 0; number < MEMBERS; number += 1) {
      const member = await connectClient(here.url);
      await member.must('room:join', { code: room.code });
      members.push(member);
    }
    await vi.waitFor(() => expect(peersKnown(here)).toBe(1), PATIENT);
    here.link[fault]();
    const back = await Promise.all(members.map((member) => comeBack(member, there.url)));
    expect(await readiness(here)).toBe(503);
    const { room: after } = await host.must('room:get');
    expect(after.members.map(({ userId, state }) => [userId, state])).toEqual(
      [host, ...members].map(({ userId }) => [userId, 'present']),
    );
    if (fault === 'cut') here.link.heal();
    else here.link.thaw();
    // In service by itself: no restart, and new clients are taken.
    await vi.waitFor(async () => expect(await readiness(here)).toBe(200), PATIENT);
    await using late = await connectClient(here.url);
    await late.must('room:join', { code: room.code });
    for (const client of [host, ...back]) {
      await client.next('member:joined', ({ member }) => member.userId === late.userId);
      expect(client.all('member:left')).toEqual([]);
      client.socket.disconnect();
    }
  },
);

test.concurrent.each([2, 1])('all nodes have lost Redis (%i of them): they keep their clients', async (count) => {
  await using nodes = await startLinkedNodes(count, OPTIONS);
  const clients = await Promise.all(nodes.all.map(({ url }) => connectClient(url)));
  const [first] = clients;
  const { room } = (await first?.must('room:create')) ?? expect.unreachable();
  await vi.waitFor(() => expect(peersKnown(nodes.node(0))).toBe(count - 1), PATIENT);
  nodes.redis.freeze();
  // Beyond the time at which a node would move its clients, and below that at which a lease ends.
  await new Promise((resolve) => setTimeout(resolve, OPTIONS.userTtlMs * 0.85));
  nodes.redis.thaw();
  await vi.waitFor(async () => expect(await first?.ask('room:get')).toMatchObject({ ok: true }), PATIENT);
  for (const client of clients) {
    expect(client.all('server:drain')).toEqual([]);
    expect(client.socket.connected).toBe(true);
  }
  expect((await first?.must('room:get'))?.room.ref).toBe(room.ref);
  for (const client of clients) client.socket.disconnect();
});

test('nodes that connect to Redis again one after the other keep their clients', async () => {
  await using nodes = await startLinkedNodes(2, { userTtlMs: LEASE_MS / 2 });
  const [here, there] = [nodes.node(0), nodes.node(1)];
  await using ann = await connectClient(here.url);
  await vi.waitFor(() => expect(peersKnown(here)).toBe(1), PATIENT);
  for (const { link } of nodes.all) link.cut();
  await vi.waitFor(async () => expect(await readiness(here)).toBe(503), PATIENT);
  // Longer than a lease: the node is about to move its clients as soon as another one has Redis.
  await new Promise((resolve) => setTimeout(resolve, LEASE_MS));
  there.link.heal();
  await vi.waitFor(async () => expect(await readiness(there)).toBe(200), PATIENT);
  // Many looks at the store, and shorter than what the other one must have had it for.
  await new Promise((resolve) => setTimeout(resolve, 300));
  here.link.heal();
  await vi.waitFor(async () => expect(await readiness(here)).toBe(200), PATIENT);
  await expect.poll(async () => (await ann.ask('room:create')).ok, PATIENT).toBe(true);
  expect(ann.all('server:drain')).toEqual([]);
});
