/** Redis freezes, dies, and returns empty: no client is disconnected, no request hangs, no process exits. */
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectClient, TestClient } from '../../support/client.ts';
import { eventually, type Fleet, startFleet } from '../../support/fleet.ts';
import { type SignalExchange, startSignalExchange } from '../../support/signal-exchange.ts';

/** The engine's limit is 2 s; the rest is a margin for a busy machine. */
const ANSWERED_MS = 2500;
/** When the engine is down, requests are refused without waiting for Redis. */
const AT_ONCE_MS = 500;

const OPTIONS = { userTtlMs: 6000, tickMs: 600, roomEmptyMs: 1000, graceMs: 1000 };

async function timed<Result>(work: Promise<Result>): Promise<{ result: Result; ms: number }> {
  const from = performance.now();
  const result = await work;
  return { result, ms: performance.now() - from };
}

const UNAVAILABLE = {
  ok: false,
  error: { code: 'STORE_UNAVAILABLE', retryable: true, retryAfterMs: expect.any(Number) },
};

/** Expects that requests to every node, and a new connection, are refused in time. */
async function expectRefusals(
  fleet: Fleet,
  clients: readonly TestClient[],
  code: string,
  within: number,
): Promise<void> {
  const refusals = await Promise.all(
    clients.flatMap((client) => [
      timed(client.ask('room:create')),
      timed(client.ask('room:join', { code })),
      timed(client.ask('room:get')),
      timed(client.ask('heartbeat')),
    ]),
  );
  for (const { result, ms } of refusals) {
    // NOT_IN_ROOM needs no access to the store.
    if (!result.ok && result.error.code === 'NOT_IN_ROOM') continue;
    expect(result).toMatchObject(UNAVAILABLE);
    expect(ms).toBeLessThan(within);
  }
  const { result, ms } = await timed(connectRefused(fleet.node(0).url));
  expect(result).toMatchObject(UNAVAILABLE.error);
  expect(ms).toBeLessThan(within);
}

async function connectRefused(url: string): Promise<unknown> {
  await using late = new TestClient(url);
  return await new Promise((resolve, reject) => {
    late.socket.once('connect_error', (error: Error & { data?: unknown }) => resolve(error.data ?? error.message));
    late.socket.once('connect', () => reject(new Error('the connection was accepted')));
  });
}

const faultsOf = (fleet: Fleet) =>
  [0, 1, 2].flatMap((node) =>
    fleet
      .node(node)
      .logs()
      .filter(({ msg }) => /^an unexpected error|unhandled|uncaught exception/.test(msg)),
  );

describe('Redis freezes, then dies, then returns empty', () => {
  let fleet: Fleet;
  let witnesses: SignalExchange[];
  let clients: TestClient[];
  let code: string;
  beforeAll(async () => {
    fleet = await startFleet(3, OPTIONS);
    witnesses = await Promise.all([0, 1, 2].map((node) => startSignalExchange(fleet.node(node).url)));
    clients = await Promise.all([0, 1, 2].map((node) => connectClient(fleet.node(node).url)));
    code = (await witnesses[0]?.peers[0].must('room:get'))?.room.code ?? '';
  });
  afterAll(async () => {
    for (const witness of witnesses ?? []) await witness[Symbol.asyncDispose]();
    for (const client of clients ?? []) client.socket.disconnect();
    await fleet?.[Symbol.asyncDispose]();
  });

  const signalsContinue = () => Promise.all(witnesses.map((witness) => witness.continues()));

  test('flushed: requests succeed while the scripts are removed', async () => {
    const requests = clients.flatMap((client) => [
      client.must('room:create'),
      client.must('room:leave'),
      client.must('room:create'),
      client.must('heartbeat'),
      client.must('room:close'),
    ]);
    const flushing = flushScripts(fleet.redis.url, 10);
    await Promise.all([...requests, flushing, signalsContinue()]);
    for (const client of clients) await client.must('room:create');
    for (const client of clients) await client.must('room:close');
  });

  test('frozen: requests are refused in time, then at once, and signals on one node continue; thawed: the rooms are unchanged', async () => {
    fleet.redis.freeze();
    await expectRefusals(fleet, clients, code, ANSWERED_MS);
    // Several concurrent requests of one client are refused at once as well.
    await expectRefusals(fleet, [...clients, ...clients, ...clients], code, AT_ONCE_MS);
    await signalsContinue();
    await Promise.all([0, 1, 2].map((node) => fleet.becomes(node, 503)));
    fleet.redis.thaw();
    await Promise.all([0, 1, 2].map((node) => fleet.becomes(node, 200)));
    await signalsContinue();
    for (const client of clients) {
      await eventually(async () => (await client.ask('room:create')).ok);
      await client.must('room:close');
    }
    expect((await witnesses[0]?.peers[1].must('room:get'))?.room.members).toHaveLength(2);
    // Creates that were sent before the freeze took effect after the thaw: these empty rooms are reaped.
    await eventually(async () => (await fleet.audit()).occupied === 3);
    expect(await fleet.audit()).toMatchObject({ seats: 6, disagreements: [] });
  });

  test('dead: requests are refused at once, signals continue, and no client is disconnected', async () => {
    await fleet.redis.kill();
    await Promise.all([0, 1, 2].map((node) => fleet.becomes(node, 503)));
    await expectRefusals(fleet, clients, code, AT_ONCE_MS);
    await signalsContinue();
    expect([0, 1, 2].map((node) => fleet.node(node).child.running)).toEqual([true, true, true]);
    for (const client of clients) expect(client.socket.connected).toBe(true);
    const { status } = await fetch(`${fleet.node(0).url}/healthz`);
    expect(status).toBe(200);
  });

  test('empty: members are in their rooms again, and new rooms can be created', async () => {
    const [stranded] = witnesses.map(({ peers }) => peers[0]);
    await fleet.redis.restart();
    await Promise.all([0, 1, 2].map((node) => fleet.becomes(node, 200)));
    for (const client of clients) {
      await eventually(async () => (await client.ask('room:create')).ok);
      await client.must('room:get');
    }
    expect((await stranded?.must('room:get'))?.room.code).toBe(code);
    await using back = new TestClient(fleet.node(1).url, { resume: stranded?.all('welcome')[0]?.resume ?? '' });
    expect(await back.next('welcome')).toMatchObject({ room: { code }, userId: stranded?.userId });
    const { room } = await back.must('room:create');
    const [first] = clients;
    expect(await first?.ask('room:join', { code: room.code })).toMatchObject({ ok: true });
    // The subscriptions between nodes are restored.
    await first?.must('signal', { to: back.userId, data: 'over nodes' });
    await back.next('signal', ({ data }) => data === 'over nodes');
    await eventually(async () => (await fleet.audit()).disagreements.length === 0);
  });

  test('afterwards: no fault was logged and every process still runs', () => {
    expect(faultsOf(fleet)).toEqual([]);
    expect([0, 1, 2].map((node) => fleet.node(node).child.running)).toEqual([true, true, true]);
  });
});

async function flushScripts(url: string, times: number): Promise<void> {
  const client = createClient({ url });
  client.on('error', () => {});
  await client.connect();
  for (let time = 0; time < times; time += 1) await client.scriptFlush();
  client.destroy();
}
