/** The round trips of each command, and the outcome while Redis does not answer. */
import { createClient } from 'redis';
import { expect, test, vi } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { loadProbeScript } from '../../src/redis/write-probe.ts';
import { StoreUnavailable } from '../../src/support/store.ts';
import { refOf } from '../room/fixtures.ts';
import { startProxy } from '../support/proxy.ts';
import type { RedisServer } from '../support/redis.ts';
import { type EngineHarness, nthCode } from './harness.ts';
import { type Nodes, startNodes } from './nodes.ts';

// All of these tests rely on Vitest, which fails a run with an unhandled rejection.

/** Sent once in a second, whatever is asked for: a script, and a message on a channel of that name. */
const PROBES = [loadProbeScript().sha, '#probe#'];

/** Every command that a client, not a script, sends to Redis while `work` runs. */
async function commandsDuring(redis: RedisServer, work: () => Promise<unknown>): Promise<string[]> {
  const monitor = createClient({ url: redis.url });
  await monitor.connect();
  const admin = createClient({ url: redis.url });
  await admin.connect();
  const seen: string[] = [];
  const ended = new Promise<void>((resolve) => {
    void monitor.monitor((line) => {
      const text = line.toString();
      const command = /\[\d+ (?!lua)[^\]]+\] "(\w+)"/.exec(text)?.[1]?.toLowerCase();
      if (text.includes('"the end"')) resolve();
      else if (command !== undefined && command !== 'ping' && !PROBES.some((probe) => text.includes(probe)))
        seen.push(command);
    });
  });
  // The first echo that arrives shows that MONITOR is active.
  await vi.waitFor(async () => {
    await admin.echo('the beginning');
    expect(seen).toContain('echo');
  });
  seen.length = 0;
  await work();
  await admin.echo('the end');
  await ended;
  monitor.destroy();
  admin.destroy();
  return seen;
}

const fails = (promise: Promise<unknown>) => expect(promise).rejects.toBeInstanceOf(StoreUnavailable);

const room = { code: nthCode(1), ref: refOf(1) };

test('every command is one round trip, from the first one on', async () => {
  await using nodes = await startNodes({ count: 1 });
  const harness = nodes.next();
  const script = ['evalsha'];
  const commandsOf = (work: () => Promise<unknown>) => commandsDuring(nodes.redis, work);
  expect(await commandsOf(() => harness.create('anna', { candidates: [room.code], idempotencyKey: 'one' }))).toEqual(
    script,
  );
  expect(await commandsOf(() => harness.join(room, 'bert'))).toEqual(script);
  expect(await commandsOf(() => harness.read(room.code))).toEqual(script);
  expect(await commandsOf(() => harness.renew(room, 'bert'))).toEqual(script);
  expect(await commandsOf(() => harness.leave(room, 'bert'))).toEqual(script);
  expect(await commandsOf(() => harness.tick([]))).toEqual(script);
  expect(await commandsOf(() => harness.arrive('anna'))).toEqual(script);
});

test('flushed scripts are sent again, once', async () => {
  await using nodes = await startNodes({ count: 1 });
  const harness = nodes.next();
  await nodes.admin.scriptFlush();
  const sent = await commandsDuring(nodes.redis, () => harness.create('anna', { candidates: [room.code] }));
  expect(sent).toEqual(['evalsha', 'eval']);
  expect(await commandsDuring(nodes.redis, () => harness.create('bert'))).toEqual(['evalsha']);
  await nodes.admin.scriptFlush();
  const joins = await Promise.all(['cora', 'dora', 'eve'].map((user) => harness.join(room, user)));
  expect(joins.map(({ ok }) => ok)).toEqual([true, true, false]);
});

/** Waits until the engine has recovered by itself. */
async function recovers(harness: EngineHarness): Promise<void> {
  await vi.waitFor(() => harness.stats(), { timeout: 30_000, interval: 20 });
}

test('a command to a frozen Redis fails in time, later ones at once, and the engine recovers after the thaw', async () => {
  await using nodes = await startNodes({ count: 1, deadlineMs: 400 });
  const [engine, harness] = [nodes.engines[0] ?? expect.unreachable(), nodes.next()];
  expect(engine.health().state).toBe('up');
  nodes.redis.freeze();
  const begin = performance.now();
  await fails(harness.create('anna', { candidates: [room.code] }));
  expect(performance.now() - begin).toBeLessThan(2_000);
  expect(engine.health().state).toBe('down');
  const again = performance.now();
  for (let index = 0; index < 100; index += 1) await fails(harness.create(`late-${index}`));
  await fails(engine.nodes());
  await fails(engine.sharedSecret('mine'));
  expect(performance.now() - again).toBeLessThan(400);
  nodes.redis.thaw();
  await recovers(harness);
  expect(engine.health().state).toBe('up');
  // The command that timed out may have been executed; the refused ones were not.
  const { occupied } = await harness.stats();
  expect(occupied).toBeLessThanOrEqual(1);
  await nodes.audit();
});

test('the default deadline is less than two seconds', async () => {
  await using nodes = await startNodes({ count: 1 });
  nodes.redis.freeze();
  const begin = performance.now();
  await fails(nodes.next().stats());
  expect(performance.now() - begin).toBeLessThan(2_000);
  nodes.redis.thaw();
});

test('commands to a dead Redis are refused at once, and the engine recovers when it returns empty', async () => {
  await using nodes = await startNodes({ count: 2 });
  const [engine, harness] = [nodes.engines[0] ?? expect.unreachable(), nodes.harnesses[0] ?? expect.unreachable()];
  await harness.room(['anna']);
  await nodes.redis.kill();
  await vi.waitFor(() => expect(engine.health().state).toBe('down'));
  const begin = performance.now();
  for (let index = 0; index < 100; index += 1) await fails(harness.stats());
  expect(performance.now() - begin).toBeLessThan(400);
  await nodes.redis.restart();
  await recovers(harness);
  expect(await harness.stats()).toMatchObject({ occupied: 0 });
  await vi.waitFor(() => expect(engine.health().state).toBe('up'), { timeout: 30_000 });
  await vi.waitFor(async () => expect(await engine.nodes()).toHaveLength(2), { timeout: 30_000 });
});

test('commands under way are refused when the connection breaks, and none hangs', async () => {
  await using nodes = await startNodes({ count: 0 });
  await using proxy = await startProxy(nodes.redis.port, { delayMs: 50 });
  await using far = await startNodes({ count: 1, url: () => `redis://127.0.0.1:${proxy.port}` });
  const harness = far.next();
  await harness.room(['anna']);
  const underWay = Array.from({ length: 50 }, (_, index) => harness.create(`user-${index}`));
  proxy.cut();
  for (const outcome of await Promise.allSettled(underWay)) {
    if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(StoreUnavailable);
  }
  proxy.heal();
  await recovers(harness);
});

test.each([
  ['frozen', async (nodes: Nodes) => nodes.redis.freeze()],
  ['dead', (nodes: Nodes) => nodes.redis.kill()],
])('closing takes at most two seconds when Redis is %s', async (_, harm) => {
  await using nodes = await startNodes({ count: 1 });
  const engine: Engine = nodes.engines[0] ?? expect.unreachable();
  await harm(nodes);
  const begin = performance.now();
  await engine.close();
  expect(performance.now() - begin).toBeLessThan(2_000);
  await fails(nodes.next().stats());
  nodes.redis.thaw();
});

test('a Redis out of memory refuses new rooms and members, and existing ones continue', async () => {
  await using nodes = await startNodes({ count: 1 });
  const harness = nodes.next();
  const kept = await harness.room(['anna', 'bert', 'cora']);
  await nodes.admin.configSet('maxmemory', '1');
  await fails(harness.create('dora'));
  await fails(harness.join(kept, 'dora'));
  expect(await harness.renew(kept, 'anna')).toMatchObject({ ok: true });
  expect(await harness.suspend(kept, 'cora')).toMatchObject({ ok: true });
  expect(await harness.resume(kept, 'cora', 2)).toMatchObject({ ok: true });
  expect(await harness.leave(kept, 'bert')).toMatchObject({ ok: true });
  expect(await harness.tick()).toMatchObject({ ok: true });
  expect(await harness.close(kept, 'anna')).toMatchObject({ ok: true });
  await nodes.admin.configSet('maxmemory', '0');
  expect(await harness.create('dora')).toMatchObject({ ok: true });
});

test('a replica instead of its master is an unavailable store', async () => {
  await using nodes = await startNodes({ count: 1 });
  await using master = await startNodes({ count: 1 });
  await nodes.admin.sendCommand(['REPLICAOF', '127.0.0.1', String(master.redis.port)]);
  await fails(nodes.next().create('anna'));
});

test('a fault is not reported as an outage', async () => {
  await using nodes = await startNodes({ count: 1 });
  await nodes.admin.set(`sb:{s07}:room:${room.code}`, 'not a hash');
  const fault = nodes.next().read(room.code);
  await expect(fault).rejects.toThrow(/WRONGTYPE/);
  await expect(fault).rejects.not.toBeInstanceOf(StoreUnavailable);
});
