/** Sessions that begin on a node in a second are limited over all addresses: its other clients are served meanwhile. */
import { expect, test } from 'vitest';
import { AdmissionRate } from '../../../src/server/limits/admission-rate.ts';
import { systemRandom } from '../../../src/support/random.ts';
import { Clients, reaches } from '../../client/harness.ts';
import { TcpSwitch } from '../../client/tcp-switch.ts';
import { connectClient } from '../../support/client.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startNodes } from '../../support/nodes.ts';

const rate = (connectionsPerSecond: number, connectionsBurst: number) => {
  const clock = manualClock();
  return { clock, admissions: new AdmissionRate({ connectionsPerSecond, connectionsBurst }, clock, systemRandom) };
};

test('a burst is admitted at once, and who comes behind it is told one instant after the other', () => {
  const { clock, admissions } = rate(10, 3);
  expect(Array.from({ length: 6 }, () => admissions.take())).toEqual([0, 0, 0, 100, 200, 300]);
  clock.advance(100);
  expect(admissions.take()).toBe(0);
});

test('ten thousand clients that come again when they are told are never more than the rate allows', () => {
  const { clock, admissions } = rate(400, 800);
  const comesAt: number[] = Array(10_000).fill(0);
  const admittedAt: number[] = [];
  for (let now = 0; admittedAt.length < 10_000; now += 1, clock.advance(1)) {
    comesAt.forEach((at, client) => {
      if (at > now) return;
      const waitMs = admissions.take();
      comesAt[client] = waitMs === 0 ? Number.POSITIVE_INFINITY : now + waitMs;
      if (waitMs === 0) admittedAt.push(now);
    });
  }
  const most = Math.max(...admittedAt.map((from, index) => countWithin(admittedAt, index, from + 1000)));
  expect(most).toBeLessThanOrEqual(800 + 400);
  // (10,000 - 800) / 400 = 23 s; some find the bucket taken by others and come a second time.
  expect(admittedAt.at(-1)).toBeLessThan(45_000);
});

function countWithin(times: readonly number[], start: number, until: number): number {
  let end = start;
  while (end < times.length && Number(times[end]) < until) end += 1;
  return end - start;
}

test('clients that are all cut at once come back without a loss, and a call beside them goes on', async () => {
  await using nodes = await startNodes(
    { kind: 'memory', count: 1 },
    { connectionsPerSecond: 40, connectionsBurst: 40 },
  );
  await using link = await TcpSwitch.to(Number(new URL(nodes.url(0)).port));
  await using caller = await connectClient(nodes.url(0));
  await using callee = await connectClient(nodes.url(0));
  const { room } = await caller.must('room:create');
  await callee.must('room:join', { code: room.code });
  await using clients = new Clients();
  const many = Array.from({ length: 120 }, () => clients.connect(link.url));
  await Promise.all(many.map((client) => reaches(client, 'online')));
  let refusals = 0;
  for (const client of many) client.on('retry', ({ error }) => (refusals += error.code === 'RATE_LIMITED' ? 1 : 0));

  const gone = Promise.all(many.map((client) => reaches(client, 'reconnecting')));
  link.cut();
  await gone;
  const back = Promise.all(many.map((client) => reaches(client, 'online')));
  for (let number = 0; number < 50; number += 1) await caller.must('signal', { to: callee.userId, data: number });
  await back;

  expect(refusals).toBeGreaterThan(0);
  await callee.next('signal', ({ data }) => data === 49);
  expect(callee.all('signal').map(({ data }) => data)).toEqual(Array.from({ length: 50 }, (_, number) => number));
});
