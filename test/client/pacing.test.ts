/** Signals are paced below the rate limit of the server: a large mesh sends more at once than a connection may. */
import { expect, test } from 'vitest';
import { MEMORY, startNodes } from '../support/nodes.ts';
import { Clients, eventsOf, twoMembers } from './harness.ts';

const COUNT = 120;

test('more signals at once than the server allows are all delivered, in order, and none is refused', async () => {
  await using nodes = await startNodes(MEMORY, { eventsBurst: 40, eventsPerSecond: 100 });
  await using clients = new Clients();
  const url = nodes.url(0);
  const { ben, room, bens } = await twoMembers(clients, [url, url]);
  const events = eventsOf(room);
  const received: unknown[] = [];
  bens.on('signal', ({ data }) => received.push(data));
  const numbers = Array.from({ length: COUNT }, (_, number) => number);
  await Promise.all(numbers.map((number) => room.signal(ben.userId ?? '', number)));
  await expect.poll(() => received.length).toBe(COUNT);
  expect(received).toEqual(numbers);
  expect(events).toEqual([]);
});
