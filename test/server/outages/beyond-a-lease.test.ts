/** Redis is away for less than a lease, and for many: when it is back, everybody still has their seats and rooms their codes. */
import { expect, test, vi } from 'vitest';
import { auditShards } from '../../../src/engine/redis/audit.ts';
import { createPool } from '../../../src/room/pool.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import { PATIENCE_MS } from '../../support/patience-ms.ts';
import { retry } from '../../support/retry.ts';
import { startSignalExchange } from '../../support/signal-exchange.ts';
import { type LinkedNodes, startLinkedNodes } from './linked-nodes.ts';

const LEASE_MS = 2_000;
/** Milliseconds in which each request is answered: the engine's limit is 2 s, the rest is a margin for a busy machine. */
const ANSWERED_MS = 4_000;
const PACE_MS = 250;
const PATIENT = { timeout: PATIENCE_MS, interval: 50 };
/** Numbers of nodes, and outages in leases, one after the other. */
const LANES = [
  { count: 1, leases: [1.7] },
  { count: 2, leases: [0.5, 1.7, 10] },
];

type Return = () => Promise<void> | void;
type Way = (nodes: LinkedNodes) => Promise<Return> | Return;

/** Each takes Redis away, and gives what brings it back with its data. */
const WAYS: Record<string, Way> = {
  'is frozen': ({ redis }) => {
    redis.freeze();
    return () => redis.thaw();
  },
  'is killed and started again': async ({ redis }) => {
    await redis.kill();
    return () => redis.restart();
  },
  'is cut off': ({ all }) => {
    for (const { link } of all) link.cut();
    return () => {
      for (const { link } of all) link.heal();
    };
  },
};

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Members of one room, of all nodes, who ask again and again; every answer is granted, or refused for a while. */
class Members {
  readonly #clients: readonly TestClient[];
  readonly #asked: Promise<void>[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(clients: readonly TestClient[]) {
    this.#clients = clients;
    this.#timer = setInterval(() => this.#askAll(), PACE_MS);
  }

  /** Resolves when all has been answered. @throws when something was not, or not in time, or with another error. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#asked);
  }

  #askAll(): void {
    for (const [index, client] of this.#clients.entries()) {
      const to = this.#clients[(index + 1) % this.#clients.length]?.userId;
      const asks = [client.ask('room:get'), client.ask('heartbeat'), client.ask('signal', { to, data: index })];
      for (const ask of asks) this.#asked.push(expectAnswer(ask));
    }
    for (const ask of this.#asked) ask.catch(() => {}); // `stop` throws it
  }
}

async function expectAnswer(ask: Promise<{ ok: boolean; error?: { code: string; retryable: boolean } }>) {
  const began = performance.now();
  const reply = await ask;
  expect(performance.now() - began).toBeLessThan(ANSWERED_MS);
  if (!reply.ok) expect(reply.error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
}

/** Members on all nodes, and rooms of one member, whose codes nobody else would notice. */
async function seatEverybody({ all }: LinkedNodes) {
  const members = await Promise.all([...all, ...all].map(({ url }) => connectClient(url)));
  const hosts = await Promise.all([...all, ...all].map(({ url }) => connectClient(url)));
  const [first] = members;
  const room = (await retry(() => first?.must('room:create') ?? expect.unreachable())).room;
  for (const member of members.slice(1)) await retry(() => member.must('room:join', { code: room.code }));
  const codes = await Promise.all(hosts.map(async (host) => (await retry(() => host.must('room:create'))).room.code));
  return { members, hosts, code: room.code, codes };
}

async function expectSeats({ members, hosts, code, codes }: Awaited<ReturnType<typeof seatEverybody>>): Promise<void> {
  const present = members.map(({ userId }) => ({ userId, state: 'present' }));
  for (const member of members) {
    const held = { ok: true, room: { code, members: present } };
    await vi.waitFor(async () => expect(await member.ask('room:get')).toMatchObject(held), PATIENT);
  }
  for (const [index, host] of hosts.entries()) {
    const held = { ok: true, room: { code: codes[index], hostId: host.userId } };
    await vi.waitFor(async () => expect(await host.ask('room:get')).toMatchObject(held), PATIENT);
  }
  for (const client of [...members, ...hosts]) {
    expect(client.socket.connected).toBe(true);
    for (const name of ['member:left', 'member:away', 'room:code-changed', 'server:drain'] as const)
      expect(client.all(name)).toEqual([]);
  }
}

async function expectCleanAudit({ redis }: LinkedNodes, occupied: number, seats: number): Promise<void> {
  await vi.waitFor(async () => {
    const shards = await auditShards({ url: redis.url, pool: createPool(6) });
    expect(shards.flatMap(({ disagreements }) => disagreements)).toEqual([]);
    expect(shards.reduce((sum, shard) => sum + shard.occupied, 0)).toBe(occupied);
    expect(shards.reduce((sum, shard) => sum + shard.seats, 0)).toBe(seats);
  }, PATIENT);
}

/** All lanes at once would miss the deadline of a start. */
let lastStart: Promise<unknown> = Promise.resolve();
function startInTurn(count: number): Promise<LinkedNodes> {
  const start = () => retry(() => startLinkedNodes(count, { userTtlMs: LEASE_MS }, ['--appendonly', 'yes']));
  const started = lastStart.then(start, start);
  lastStart = started;
  return started;
}

async function expectNothingLost(takeAway: Way, { count, leases }: (typeof LANES)[number]): Promise<void> {
  await using nodes = await startInTurn(count);
  await using same = await startSignalExchange(nodes.node(0).url);
  const seated = await seatEverybody(nodes);
  for (const lease of leases) {
    // Another phase of the tick and of the probes in each run.
    await wait(Math.random() * 1_000);
    const asking = new Members(seated.members);
    const bringBack = await takeAway(nodes);
    await wait(lease * LEASE_MS);
    await same.continues();
    await bringBack();
    await expectSeats(seated);
    await asking.stop();
  }
  await same.continues();
  // Longer than seats are kept without a lease: one that nobody renews would have ended.
  await wait(1.5 * LEASE_MS);
  await expectSeats(seated);
  await expectCleanAudit(nodes, seated.hosts.length + 2, seated.hosts.length + seated.members.length + 2);
  for (const client of [...seated.members, ...seated.hosts]) client.socket.disconnect();
}

test.concurrent.each(Object.entries(WAYS))(
  'Redis %s, up to ten leases: nobody leaves, and every code is kept',
  async (_what, takeAway) => {
    await Promise.all(LANES.map((lane) => expectNothingLost(takeAway, lane)));
  },
);
