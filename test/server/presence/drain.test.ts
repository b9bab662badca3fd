/** A node that leaves: load balancers need time to notice, and who is here already must not notice anything. */
import { expect, test } from 'vitest';
import { createMemoryEngine } from '../../../src/engine/memory.ts';
import type { NodeId, SessionNumber, UserId } from '../../../src/protocol/ids.ts';
import { policyOf, poolOf, readOptions } from '../../../src/server/options/options.ts';
import { createDrain } from '../../../src/server/presence/drain.ts';
import { Session } from '../../../src/server/sessions/session.ts';
import { SessionRegistry } from '../../../src/server/sessions/session-registry.ts';
import { turn } from '../../../src/support/clock.ts';
import { systemRandom } from '../../../src/support/random.ts';
import { connectClient } from '../../support/client.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startNodes } from '../../support/nodes.ts';
import { refusedHandshake, tokenOf } from '../scenarios/members.ts';

const LEAVES = { drainReadyMs: 300_000, drainMs: 300_000 };

test('a leaving node serves who comes back, and refuses new users with the time to wait', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, LEAVES);
  const url = nodes.url(0);
  await using ann = await connectClient(url);
  const { room } = await ann.must('room:create');
  const closing = nodes.servers[0]?.close({ waitForBalancers: true });
  expect(await refusedHandshake(url, {})).toMatchObject({ code: 'DRAINING', retryAfterMs: 500 });
  expect(await refusedHandshake(url, { resume: 'of nobody' })).toMatchObject({ code: 'SESSION_EXPIRED' });
  await using back = await connectClient(url, { resume: tokenOf(ann) });
  expect(back.all('welcome')).toMatchObject([{ room: { ref: room.ref } }]);
  await nodes.servers[0]?.close();
  await closing;
});

test('two closes that wait for load balancers both end with the third, which does not', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, LEAVES);
  const { servers } = nodes;
  const waiting = [...servers, ...servers].map((server) => server.close({ waitForBalancers: true }));
  await Promise.all(servers.map((server) => server.close()));
  await Promise.all(waiting);
});

/** A drain of sessions whose sockets are no more than a record of what was done to them. */
function drainOf(count: number, { readers = true, ...given }: { readers?: boolean; drainMs?: number } = {}) {
  const clock = manualClock();
  const options = readOptions(given);
  const registry = new SessionRegistry();
  const figures = { told: 0, closed: 0, terminated: 0, longestWaitMs: 0 };
  for (let number = 0; number < count; number += 1) {
    let ended = () => {};
    const conn = {
      readyState: 'open',
      transport: { onClose: () => {} },
      once(_: string, call: () => void) {
        ended = call;
      },
      write(packet: string) {
        figures.told += 1;
        const [, { reconnectInMs }] = JSON.parse(packet.slice(1)) as [string, { reconnectInMs: number }];
        figures.longestWaitMs = Math.max(figures.longestWaitMs, reconnectInMs);
      },
      close(discard?: boolean) {
        if (discard === true) figures.terminated += 1;
        else figures.closed += 1;
        socket.connected = !readers;
        if (readers) ended();
      },
    };
    const socket = { connected: true, conn, join: () => {}, leave: () => {}, disconnect: () => {} };
    registry.add(
      new Session(socket, {
        userId: `user-${number}` as UserId,
        number: 1 as SessionNumber,
        connectedAt: 0,
        now: 0,
        name: undefined,
        metadata: undefined,
        address: '::1',
      }),
    );
  }
  const nodeId = 'node' as NodeId;
  const engine = createMemoryEngine({ nodeId, policy: policyOf(options), pool: poolOf(options), feedMaxEvents: 0 });
  const drain = createDrain({ registry, random: systemRandom, clock, options, engine });
  let isOver = false;
  const begun = drain.begin().then(() => {
    isOver = true;
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) {
      clock.advance(20);
      for (let turns = 0; turns < 3; turns += 1) await turn(clock);
    }
  };
  return { figures, pass, begun, isOver: () => isOver };
}

test('sessions are let go at a rate, each told when its turn comes, with a short wait', async () => {
  const { figures, pass, isOver, begun } = drainOf(1000);
  await pass(2000);
  expect(figures.closed).toBeGreaterThan(400);
  expect(figures.closed).toBeLessThan(600);
  expect(figures.told).toBe(figures.closed);
  expect(isOver()).toBe(false);
  await pass(2200);
  await begun;
  expect(figures).toMatchObject({ told: 1000, closed: 1000, terminated: 0 });
  expect(figures.longestWaitMs).toBeLessThan(500);
});

test('more sessions than fit are let go faster, within half of the time', async () => {
  const { figures, pass, begun } = drainOf(10_000);
  await pass(12_000);
  expect(figures.closed).toBeLessThan(10_000);
  await pass(2500);
  await begun;
  expect(figures.closed).toBe(10_000);
});

test('connections that do not end are destroyed when the time is over', async () => {
  const { figures, pass, isOver, begun } = drainOf(10, { readers: false, drainMs: 8000 });
  await pass(5500);
  expect(figures).toMatchObject({ closed: 10, terminated: 0 });
  expect(isOver()).toBe(false);
  await pass(1000);
  await begun;
  expect(figures.terminated).toBe(10);
});
