/** Redis is away in one of many ways, for less than a lease: nobody is disconnected, nobody leaves, every request is answered. */
import { createClient } from 'redis';
import { expect, test, vi } from 'vitest';
import { connectClient, TestClient } from '../../support/client.ts';
import { PATIENCE_MS } from '../../support/patience-ms.ts';
import { startSignalExchange } from '../../support/signal-exchange.ts';
import { LEASE_MS, type LinkedNodes, startLinkedNodes } from './linked-nodes.ts';

/** The engine's limit is 2 s; the rest is a margin for a busy machine. */
const ANSWERED_MS = 3_000;
const PATIENT = { timeout: PATIENCE_MS, interval: 50 };
const NODES = [0, 1];
/** Longer than a command may take. */
const AWAY_MS = LEASE_MS * 0.8;

type Return = () => Promise<void> | void;

const links = (nodes: LinkedNodes) => NODES.map((node) => nodes.node(node).link);

/** Each takes Redis away, and gives what brings it back. */
const OUTAGES: Record<string, (nodes: LinkedNodes) => Promise<Return>> = {
  'Redis is frozen': async ({ redis }) => {
    redis.freeze();
    return () => redis.thaw();
  },
  'the links to Redis are cut': async (nodes) => {
    for (const link of links(nodes)) link.cut();
    return () => {
      for (const link of links(nodes)) link.heal();
    };
  },
  'the links to Redis swallow everything': async (nodes) => {
    for (const link of links(nodes)) link.freeze();
    return () => {
      for (const link of links(nodes)) link.thaw();
    };
  },
  'Redis pauses its clients': async ({ redis }) => {
    const admin = createClient({ url: redis.url });
    await admin.connect();
    await admin.sendCommand(['CLIENT', 'PAUSE', String(AWAY_MS), 'ALL']);
    return () => admin.destroy();
  },
};

async function expectAnswer(ask: Promise<unknown>): Promise<void> {
  const began = performance.now();
  const reply = (await ask) as { ok: boolean; error?: { code: string; retryable: boolean } };
  expect(performance.now() - began).toBeLessThan(ANSWERED_MS);
  if (!reply.ok) expect(reply.error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
}

async function handshake(url: string): Promise<unknown> {
  await using late = new TestClient(url);
  return await new Promise((resolve) => {
    late.socket.once('connect_error', (error: Error & { data?: object }) =>
      resolve({ ok: false, error: error.data ?? { code: error.message } }),
    );
    late.socket.once('connect', () => resolve({ ok: true }));
  });
}

test.concurrent.each(Object.entries(OUTAGES))('%s', async (_what, takeAway) => {
  await using nodes = await startLinkedNodes(NODES.length, { userTtlMs: 2 * LEASE_MS });
  await using same = await startSignalExchange(nodes.node(0).url);
  await using ann = await connectClient(nodes.node(0).url);
  await using ben = await connectClient(nodes.node(1).url);
  const { room } = await ann.must('room:create');
  await ben.must('room:join', { code: room.code });
  // A phase of its own for each run: the tick and the probes have other ones.
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 1_000));
  const bringBack = await takeAway(nodes);
  const until = performance.now() + AWAY_MS;
  const asked: Promise<void>[] = [];
  while (performance.now() < until) {
    asked.push(expectAnswer(handshake(nodes.node(1).url)));
    for (const client of [ann, ben]) {
      const peer = client === ann ? ben : ann;
      asked.push(expectAnswer(client.ask('room:get')), expectAnswer(client.ask('heartbeat')));
      asked.push(expectAnswer(client.ask('signal', { to: peer.userId, data: 'over nodes' })));
      asked.push(expectAnswer(client.ask('message', { data: 'to all' })));
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await same.continues();
  await bringBack();
  await Promise.all(asked);
  for (const client of [ann, ben]) {
    const inRoom = { ok: true, room: { ref: room.ref } };
    await vi.waitFor(async () => expect(await client.ask('room:get')).toMatchObject(inRoom), PATIENT);
  }
  await vi.waitFor(
    async () => expect(await ann.ask('signal', { to: ben.userId, data: 1 })).toEqual({ ok: true }),
    PATIENT,
  );
  for (const node of NODES) {
    const url = `${nodes.node(node).url}/readyz`;
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), PATIENT);
  }
  for (const client of [ann, ben]) {
    expect(client.socket.connected).toBe(true);
    expect(client.all('member:left')).toEqual([]);
    expect(client.all('member:away')).toEqual([]);
  }
  await same.continues();
});
