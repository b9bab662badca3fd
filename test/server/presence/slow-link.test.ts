/** Two nodes, each 20 ms from Redis: a message that overtakes a subscription would be lost. */
import { expect, test, vi } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { flushPushes, joinedPair, tokenOf, welcomeOf } from '../scenarios/members.ts';
import { type SlowLinkNodes, startSlowLinkNodes } from '../slow-link-nodes.ts';

const ROUND_TRIP_MS = 20;
const HUNDRED = 100;
/** Concurrent rooms: each waits for its own round trips. */
const ROOMS = 5;

/** Runs a hundred turns, spread over concurrent rooms. @returns how many succeeded. */
async function inRooms(turns: (room: number, count: number) => Promise<number>): Promise<number> {
  const counts = await Promise.all(Array.from({ length: ROOMS }, (_, room) => turns(room, HUNDRED / ROOMS)));
  return counts.reduce((sum, count) => sum + count, 0);
}

const start = (): Promise<SlowLinkNodes> => startSlowLinkNodes(2, ROUND_TRIP_MS);

test('none of a hundred messages right after a join is lost', async () => {
  await using nodes = await start();
  const received = await inRooms(async (_, count) => {
    await using ann = await connectClient(nodes.url(0));
    const { room } = await ann.must('room:create');
    // The earliest possible messages to the new member: before the reply to its own join.
    ann.socket.on('member:joined', ({ member }) => {
      ann.socket.emit('message', { data: `welcome ${member.userId}` });
      ann.socket.emit('signal', { to: member.userId, data: 'welcome' });
    });
    let received = 0;
    for (let n = 0; n < count; n += 1) {
      await using ben = await connectClient(nodes.url(1));
      await ben.must('room:join', { code: room.code });
      await ann.must('message', { data: 'answered' });
      // The two may come in either order: one is sent after the event of the join, one after its reply.
      const expected = new Set([`welcome ${ben.userId}`, 'answered']);
      await vi.waitFor(() => expect(ben.all('message')).toHaveLength(2), { interval: 2 });
      expect(new Set(ben.all('message').map(({ data }) => data))).toEqual(expected);
      expect(await ben.next('signal')).toMatchObject({ from: ann.userId, data: 'welcome' });
      received += 1;
      await ben.must('room:leave');
    }
    return received;
  });
  expect(received).toBe(HUNDRED);
});

test('the last member of a node refreshes a hundred times and receives every message sent after each', async () => {
  await using nodes = await start();
  const received = await inRooms(async (_, count) => {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    let page = ben;
    let received = 0;
    for (let n = 0; n < count; n += 1) {
      page.socket.disconnect();
      page = await connectClient(nodes.url(1), { resume: tokenOf(page) });
      expect(welcomeOf(page)).toMatchObject({ userId: ben.userId, room: { ref: room.ref } });
      await ann.must('message', { data: n });
      await page.next('message', ({ data }) => data === n);
      await ann.must('signal', { to: ben.userId, data: n });
      await page.next('signal', ({ data }) => data === n);
      received += 1;
    }
    page.socket.disconnect();
    expect(ann.all('member:left')).toEqual([]);
    return received;
  });
  expect(received).toBe(HUNDRED);
});

test('two hundred candidates each way arrive once and in order', async () => {
  await using nodes = await start();
  await using pair = await joinedPair(nodes);
  const { ann, ben } = pair;
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  await Promise.all([
    ...numbers.map((n) => ann.must('signal', { to: ben.userId, data: n })),
    ...numbers.map((n) => ben.must('signal', { to: ann.userId, data: n })),
  ]);
  await vi.waitFor(() => expect([ann, ben].map((client) => client.all('signal').length)).toEqual([200, 200]));
  await flushPushes(ann, ben);
  await flushPushes(ben, ann);
  for (const client of [ann, ben]) expect(client.all('signal').map(({ data }) => data)).toEqual(numbers);
});

test('a node without members of a room receives none of its messages', async () => {
  await using nodes = await startSlowLinkNodes(3, 0);
  await using pair = await joinedPair(nodes);
  const { ann, ben } = pair;
  // The third node serves another room.
  await using cat = await connectClient(nodes.url(2));
  await using dan = await connectClient(nodes.url(0));
  const { room } = await cat.must('room:create');
  await dan.must('room:join', { code: room.code });
  await cat.next('member:joined');
  await flushPushes(cat, dan);
  const bytesReceived = () => nodes.links.map(({ bytesDown }) => bytesDown);
  const before = bytesReceived();
  for (let n = 0; n < HUNDRED; n += 1) {
    await ann.must('message', { data: 'x'.repeat(1_000) });
    await ben.must('profile', { name: `Ben ${n}` });
    await ann.must('signal', { to: ben.userId, data: n });
  }
  await flushPushes(ben, ann);
  await flushPushes(ann, ben);
  await dan.must('message', { data: 'what the third node receives is its own room' });
  await cat.next('message', ({ data }) => typeof data === 'string' && data.startsWith('what the third node'));
  const [, second = 0, third = 0] = bytesReceived().map((now, node) => now - (before[node] ?? 0));
  expect(second).toBeGreaterThan(HUNDRED * 1_000);
  expect(third).toBeLessThan(1_000);
});
