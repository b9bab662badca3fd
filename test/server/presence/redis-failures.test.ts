/** Redis goes away, stands still, comes back, comes back empty: nobody is disconnected, nothing hangs, nothing ends. */
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectClient, TestClient } from '../../support/client.ts';
import { eventually, type Fleet, startFleet } from '../../support/fleet.ts';
import { type SignalExchange, startSignalExchange } from '../../support/signal-exchange.ts';

/** What the engine promises is 2 s; the rest is a machine that is busy. */
const ANSWERED_MS = 2500;
/** Once it is known that Redis is away, nobody waits for it. */
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

/** Whatever needs the store is refused in time, by every node, and so is a new connection. */
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
    // Who sits in no room is told so without asking the store.
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
    late.socket.once('connect', () => reject(new Error('it was let in')));
  });
}

const faultsOf = (fleet: Fleet) =>
  [0, 1, 2].flatMap((node) =>
    fleet
      .node(node)
      .logs()
      .filter(({ msg }) => /^an unexpected error|unhandled|uncaught exception/.test(msg)),
  );

describe('Redis stands still, then is killed, then comes back empty', () => {
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

  const goOn = () => Promise.all(witnesses.map((witness) => witness.continues()));

  test('the scripts are flushed while requests are under way: nobody notices', async () => {
    const asking = clients.flatMap((client) => [
      client.must('room:create'),
      client.must('room:leave'),
      client.must('room:create'),
      client.must('heartbeat'),
      client.must('room:close'),
    ]);
    const flushing = flushScripts(fleet.redis.url, 10);
    await Promise.all([...asking, flushing, goOn()]);
    for (const client of clients) await client.must('room:create');
    for (const client of clients) await client.must('room:close');
  });

  test('frozen: refused in time, then at once; signals on one node go on; thawed: all is as it was', async () => {
    fleet.redis.freeze();
    await expectRefusals(fleet, clients, code, ANSWERED_MS);
    // Several at once from one client too: one does not wait for what another has found out.
    await expectRefusals(fleet, [...clients, ...clients, ...clients], code, AT_ONCE_MS);
    await goOn();
    await Promise.all([0, 1, 2].map((node) => fleet.becomes(node, 503)));
    fleet.redis.thaw();
    await Promise.all([0, 1, 2].map((node) => fleet.becomes(node, 200)));
    await goOn();
    for (const client of clients) {
      await eventually(async () => (await client.ask('room:create')).ok);
      await client.must('room:close');
    }
    expect((await witnesses[0]?.peers[1].must('room:get'))?.room.members).toHaveLength(2);
    // What was under way when it froze took effect when it thawed, for nobody: such rooms end by themselves.
    await eventually(async () => (await fleet.audit()).occupied === 3);
    expect(await fleet.audit()).toMatchObject({ seats: 6, disagreements: [] });
  });

  test('killed: refused at once; signals go on, nobody is disconnected, every process stays', async () => {
    await fleet.redis.kill();
    await Promise.all([0, 1, 2].map((node) => fleet.becomes(node, 503)));
    await expectRefusals(fleet, clients, code, AT_ONCE_MS);
    await goOn();
    expect([0, 1, 2].map((node) => fleet.node(node).child.running)).toEqual([true, true, true]);
    for (const client of clients) expect(client.socket.connected).toBe(true);
    const { status } = await fetch(`${fleet.node(0).url}/healthz`);
    expect(status).toBe(200);
  });

  test('back and empty: typed answers to whoever had a room, and a new one for whoever asks', async () => {
    const [stranded] = witnesses.map(({ peers }) => peers[0]);
    await fleet.redis.restart();
    await Promise.all([0, 1, 2].map((node) => fleet.becomes(node, 200)));
    for (const client of clients) {
      await eventually(async () => (await client.ask('room:create')).ok);
      await client.must('room:get');
    }
    // Its room is no more: it is told so, or asked to come back and told then.
    if (stranded?.socket.connected === true) {
      const reply = await stranded.ask('room:get').catch(() => undefined);
      if (reply !== undefined && !reply.ok) expect(['CODE_EXPIRED', 'NOT_IN_ROOM']).toContain(reply.error.code);
    }
    await using back = new TestClient(fleet.node(1).url, { resume: stranded?.all('welcome')[0]?.resume ?? '' });
    expect(await back.next('welcome')).toMatchObject({ room: null, userId: stranded?.userId });
    const { room } = await back.must('room:create');
    const [first] = clients;
    expect(await first?.ask('room:join', { code: room.code })).toMatchObject({ ok: true });
    // Over nodes too: the subscriptions are back.
    await first?.must('signal', { to: back.userId, data: 'over nodes' });
    expect(await back.next('signal')).toMatchObject({ data: 'over nodes' });
    await eventually(async () => (await fleet.audit()).disagreements.length === 0);
  });

  test('and through all of it, no fault was logged and no process has ended', () => {
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
