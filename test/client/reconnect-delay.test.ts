/** Back-off: exponential up to a limit, with full jitter, on top of the wait that the server asks for. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { DEFAULT_BACKOFF, fullJitterMs } from '../../src/client/full-jitter.ts';
import { systemChance } from '../../src/support/chance.ts';
import { type MemoryNode, startMemoryNode } from '../support/memory-node.ts';
import { Clients, next } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

const backoff = fc.record({ baseMs: fc.integer({ min: 1, max: 5000 }), maxMs: fc.integer({ min: 0, max: 60_000 }) });
const attempt = fc.oneof(fc.nat(20), fc.nat(5000));

test('a wait is never shorter than the server asks for, and never longer than that and the limit', () => {
  fc.assert(
    fc.property(attempt, backoff, fc.nat(100_000), (attempt, backoff, minMs) => {
      const delay = fullJitterMs(attempt, backoff, systemChance, minMs);
      expect(delay).toBeGreaterThanOrEqual(minMs);
      expect(delay).toBeLessThanOrEqual(minMs + Math.min(backoff.maxMs, backoff.baseMs * 2 ** attempt));
    }),
  );
});

test('jitter is full: every tenth of the wait is equally likely', () => {
  // Waits are whole milliseconds, from 1 to the span.
  for (const [attempt, span] of [500, 1000, 2000, 4000, 8000, 15_000, 15_000].entries()) {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let drawn = 0; drawn < 10_000; drawn += 1) {
      const tenth = Math.floor((fullJitterMs(attempt, DEFAULT_BACKOFF, systemChance, 70) - 71) / (span / 10));
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    // The expected count is 1,000, with a standard deviation of 30.
    for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(200);
  }
});

let nodes: MemoryNode;
beforeAll(async () => {
  nodes = await startMemoryNode();
});
afterAll(() => nodes[Symbol.asyncDispose]());
afterEach(() => void vi.restoreAllMocks());

test('the wait grows with every attempt, and starts over after a stable connection', async () => {
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const client = clients.connect(tcp.url, { backoff: { baseMs: 1, maxMs: 64 } });
  const room = await client.create();
  // A connection is stable after some seconds: the clock is moved on.
  const now = performance.now.bind(performance);
  let later = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + later);
  for (let loss = 0; loss < 3; loss += 1) {
    later += 10_000;
    const waits: number[] = [];
    const unsubscribe = client.on('retry', ({ retryInMs }) => waits.push(retryInMs));
    tcp.block();
    while (waits.length < 10) await next(client, 'retry');
    for (const [attempt, wait] of waits.entries()) expect(wait).toBeLessThanOrEqual(Math.min(64, 2 ** attempt));
    expect(Math.max(...waits)).toBeGreaterThan(8);
    const resumed = next(room, 'resumed');
    tcp.clear();
    await resumed;
    await client.ready();
    unsubscribe();
  }
});

test('a thousand clients that lose one server do not come back together', () => {
  const moments = Array.from({ length: 1000 }, () => fullJitterMs(0, DEFAULT_BACKOFF, systemChance));
  const slices = Array.from({ length: 50 }, () => 0);
  for (const moment of moments) slices[Math.floor(moment / 10)] = (slices[Math.floor(moment / 10)] ?? 0) + 1;
  // About twenty in each of fifty slices of 10 ms.
  expect(Math.max(...slices)).toBeLessThan(60);
});
