/** What was refused while Redis was away is not delivered when it is back, and what is repeated is received once. */
import { expect, test } from 'vitest';
import { connectClient, type TestClient } from '../../support/client.ts';
import { joinedPair } from '../scenarios/members.ts';
import { startSlowLinkNodes } from '../slow-link-nodes.ts';

/** Beyond the deadline, from which on it is known that Redis does not answer. */
const FREEZE_MS = 2_500;
const PACE_MS = 50;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends numbers until it is stopped; resolves with those that were acknowledged. */
function keepSending(send: (number: number) => Promise<{ readonly ok: boolean }>) {
  const acknowledged = new Set<number>();
  const pending: Promise<void>[] = [];
  let number = 0;
  const timer = setInterval(() => {
    number += 1;
    const own = number;
    pending.push(send(own).then(({ ok }) => void (ok && acknowledged.add(own))));
  }, PACE_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(pending);
    return { acknowledged, sent: number };
  };
}

const numbersOf = (client: TestClient, name: 'signal' | 'message') => client.all(name).map(({ data }) => Number(data));

test('signals over a frozen Redis: acknowledged means received, refused means not received', async () => {
  await using nodes = await startSlowLinkNodes(2, 0);
  await using pair = await joinedPair(nodes);
  const { ann, ben } = pair;
  await ann.must('signal', { to: ben.userId, data: 0 });
  const stop = keepSending((data) => ann.ask('signal', { to: ben.userId, data }));
  await wait(10 * PACE_MS);
  nodes.redis?.freeze();
  await wait(FREEZE_MS);
  nodes.redis?.thaw();
  await wait(10 * PACE_MS);
  const { acknowledged, sent } = await stop();
  await expect.poll(async () => (await ann.ask('signal', { to: ben.userId, data: -1 })).ok).toBe(true);
  await ben.next('signal', ({ data }) => data === -1);
  const heard = numbersOf(ben, 'signal').filter((number) => number > 0);
  expect(new Set(heard)).toEqual(acknowledged);
  expect(heard).toHaveLength(acknowledged.size);
  expect(acknowledged.size).toBeLessThan(sent);
});

test('messages that are refused and repeated are received once by everybody, and in the time of the last try', async () => {
  await using nodes = await startSlowLinkNodes(2, 0);
  await using pair = await joinedPair(nodes);
  const { ann, ben, room } = pair;
  await using cat = await connectClient(nodes.url(0));
  await cat.must('room:join', { code: room.code });
  await ann.must('message', { data: 0 });
  nodes.redis?.freeze();
  const numbers = Array.from({ length: 20 }, (_, number) => number + 1);
  const first = await Promise.all(numbers.map((data) => ann.ask('message', { data })));
  expect(first.map(({ ok }) => ok)).toEqual(numbers.map(() => false));
  // The member on the same node has not received what its sender was refused.
  expect(numbersOf(cat, 'message')).toEqual([0]);
  await wait(FREEZE_MS);
  nodes.redis?.thaw();
  for (const data of numbers) await expect.poll(async () => (await ann.ask('message', { data })).ok).toBe(true);
  await ann.must('message', { data: -1 });
  for (const client of [ann, ben, cat]) {
    await client.next('message', ({ data }) => data === -1);
    expect(numbersOf(client, 'message')).toEqual([0, ...numbers, -1]);
  }
});

test('signals to the members of a node that is cut off are refused, and are not delivered when it is back', async () => {
  await using nodes = await startSlowLinkNodes(2, 0);
  await using pair = await joinedPair(nodes);
  const { ann, ben } = pair;
  await ann.must('signal', { to: ben.userId, data: 0 });
  nodes.links[1]?.freeze();
  // Its connections are open: Redis counts it as a subscriber.
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, number) => ann.ask('signal', { to: ben.userId, data: number + 1 })),
  );
  for (const reply of replies) expect(reply).toMatchObject({ ok: false, error: { code: 'STORE_UNAVAILABLE' } });
  nodes.links[1]?.thaw();
  await expect.poll(async () => (await ann.ask('signal', { to: ben.userId, data: -1 })).ok).toBe(true);
  await ben.next('signal', ({ data }) => data === -1);
  expect(numbersOf(ben, 'signal')).toEqual([0, -1]);
});
