/** The pool of codes: exact figures, low water, exhaustion, reuse. On a pool of a hundred, one code for each shard. */
import { pino } from 'pino';
import { expect, vi } from 'vitest';
import { shardOf } from '../../../src/room/pool.ts';
import type { PoolFigures } from '../../../src/server/monitoring/pool-monitor.ts';
import type { Log } from '../../../src/support/log.ts';
import { connectClient } from '../../support/client.ts';
import type { Nodes } from '../../support/nodes.ts';
import { flushPushes, tokenOf, welcomeOf } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

export const ADMIN_TOKEN = 'the-token-of-these-tests';

type Figures = PoolFigures & { readonly shards: readonly Omit<PoolFigures, 'total'>[] };

const logged: { readonly level: number; readonly msg: string; readonly free?: number }[] = [];

/** Collects the log lines of the servers under test. */
export const recordingLog: Log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) });

/** The figures of the pool, after a check that every node gives the same and that they add up. */
export async function figuresOf(nodes: Nodes): Promise<Figures> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const all: Figures[] = [];
  for (const { port } of nodes.servers) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/pool`, { headers });
    expect(response.status).toBe(200);
    all.push((await response.json()) as Figures); // what it is made of is compared below
  }
  for (const { free, occupied, cooling, total, shards } of all) {
    expect(free + occupied + cooling).toBe(total);
    const sum = (figure: 'free' | 'occupied' | 'cooling') => shards.reduce((sum, shard) => sum + shard[figure], 0);
    expect({ free: sum('free'), occupied: sum('occupied'), cooling: sum('cooling') }).toEqual({
      free,
      occupied,
      cooling,
    });
  }
  return all[0] ?? expect.unreachable();
}

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

async function readinessOf(nodes: Nodes, node: number, headers: Record<string, string> = ADMIN) {
  const response = await fetch(`${nodes.url(node)}/readyz`, { headers });
  expect(response.headers.get('cache-control')).toBe('no-store');
  return { status: response.status, body: (await response.json()) as { pool: { low: boolean; free: number } } };
}

export const pool: Readonly<Record<string, Scenario>> = {
  async 'the figures of the pool need the administrator’s token'(nodes) {
    for (const authorization of [undefined, 'Bearer wrong', `Basic ${ADMIN_TOKEN}`, ADMIN_TOKEN]) {
      const response = await fetch(`${nodes.url(1)}/v1/pool`, authorization ? { headers: { authorization } } : {});
      expect(response.status).toBe(401);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await response.json()).toMatchObject({ code: 'UNAUTHENTICATED', status: 401, retryable: false });
    }
  },

  async 'the figures of the pool are exact while a code is free, occupied, cooling, and free again'(nodes) {
    const untouched = { free: 1, occupied: 0, cooling: 0 };
    const all = { free: 100, occupied: 0, cooling: 0, total: 100 };
    const shards = Array.from({ length: 100 }, (_, shard) => ({ shard, ...untouched }));
    expect(await figuresOf(nodes)).toEqual({ ...all, shards });
    await using ann = await connectClient(nodes.url(0));
    await using ben = await connectClient(nodes.url(1));
    const { room } = await ann.must('room:create');
    await ben.must('room:join', { code: room.code });
    const shard = shardOf(room.code);
    expect(await figuresOf(nodes)).toEqual({
      ...all,
      free: 99,
      occupied: 1,
      shards: shards.with(shard, { shard, free: 0, occupied: 1, cooling: 0 }),
    });
    await ann.must('room:close');
    expect(await figuresOf(nodes)).toEqual({
      ...all,
      free: 99,
      cooling: 1,
      shards: shards.with(shard, { shard, free: 0, occupied: 0, cooling: 1 }),
    });
    await vi.waitFor(async () => expect(await figuresOf(nodes)).toEqual({ ...all, shards }), { timeout: 30_000 });
  },

  async 'healthz and readyz name the node, and readyz its engine, store and pool to operators only'(nodes) {
    for (const [node, { nodeId, engine }] of nodes.servers.entries()) {
      const health = await fetch(`${nodes.url(node)}/healthz`);
      expect([health.status, await health.json()]).toEqual([200, { ok: true, nodeId }]);
      const forAll = { ok: true, store: 'up', draining: false };
      const pool = { free: 100, total: 100, low: false };
      const stores = { rooms: { state: 'up', since: expect.stringMatching(/Z$/) } };
      const body = { ...forAll, nodeId, engine: engine.name, stores, pool };
      // The figures are those of the last tick.
      await vi.waitFor(async () => expect(await readinessOf(nodes, node)).toEqual({ status: 200, body }), 30_000);
      for (const authorization of ['', 'Bearer wrong', ADMIN_TOKEN, `Basic ${ADMIN_TOKEN}`])
        expect(await readinessOf(nodes, node, { authorization })).toEqual({ status: 200, body: forAll });
    }
  },

  async 'a pool that runs low is logged once and shown by readyz until it has recovered'(nodes) {
    logged.length = 0;
    const said = (text: string) => logged.filter(({ msg }) => msg.includes(text));
    const guests = await Promise.all([0, 1, 2, 3].map((node) => connectClient(nodes.url(node))));
    for (const guest of guests) await guest.must('room:create');
    for (const [node] of nodes.servers.entries()) {
      await vi.waitFor(async () => expect((await readinessOf(nodes, node)).body.pool.low).toBe(true), 30_000);
      expect(await readinessOf(nodes, node)).toMatchObject({ status: 200, body: { pool: { free: 96 } } });
    }
    await vi.waitFor(() => expect(said('running low')).toHaveLength(nodes.servers.length), 30_000);
    expect(said('running low')).toMatchObject(nodes.servers.map(() => ({ level: 40, free: 96, total: 100 })));
    for (const guest of guests) await guest.must('room:close');
    await vi.waitFor(() => expect(said('recovered')).toHaveLength(nodes.servers.length), 30_000);
    for (const [node] of nodes.servers.entries()) {
      await vi.waitFor(async () => expect((await readinessOf(nodes, node)).body.pool.low).toBe(false), 30_000);
    }
    expect(said('running low')).toHaveLength(nodes.servers.length);
    for (const guest of guests) guest.socket.disconnect();
  },
};

/** Without a cool-down. */
export const codeReuse: Readonly<Record<string, Scenario>> = {
  async 'the last code, used again and again, never admits a client of the room before'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    // A room that one leaves keeps its code for as long as an empty room may.
    for (let n = 0; n < 99; n += 1) await ann.must('room:create');
    await using ben = await connectClient(nodes.url(1));
    await using cat = await connectClient(nodes.url(0));
    let { room } = await ben.must('room:create');
    for (let round = 0; round < 5; round += 1) {
      const exhausted = await cat.ask('room:create');
      expect(exhausted).toMatchObject({ ok: false, error: { code: 'POOL_EXHAUSTED', retryable: true } });
      expect(!exhausted.ok && exhausted.error.retryAfterMs).toBeGreaterThan(0);

      await using dan = await connectClient(nodes.url(0));
      await dan.must('room:join', { code: room.code });
      dan.cut();
      await ben.next('member:away');
      const before = room;
      await ben.must('room:close');
      ({ room } = await ben.must('room:create'));
      expect(room.code).toBe(before.code);
      expect(room.ref).not.toBe(before.ref);
      expect(await cat.refused('room:join', { code: room.code, ref: before.ref })).toBe('CODE_EXPIRED');
      await using back = await connectClient(nodes.url(1), { resume: tokenOf(dan) });
      expect(welcomeOf(back).room).toBeNull();
      expect(await back.refused('message', { data: 'anybody?' })).toBe('NOT_IN_ROOM');
      await flushPushes(ben, ben);
      expect(ben.all('member:joined').filter(({ ref }) => ref === room.ref)).toEqual([]);
      expect((await cat.must('room:join', { code: room.code })).room.ref).toBe(room.ref);
      await cat.must('room:leave');
    }
  },
};
