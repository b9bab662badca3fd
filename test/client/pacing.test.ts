/** Signals are paced below the rate limit of the server: a large mesh sends more at once than a connection may. */
import { expect, test } from 'vitest';
import { MEMORY, startNodes } from '../support/nodes.ts';
import { startProxy } from '../support/proxy.ts';
import { Clients, eventsOf, reaches, twoMembers } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

const COUNT = 120;
const STALL_MS = 1_000;

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

test('signals that wait when the connection is lost go before later ones, and within the new burst', async () => {
  await using nodes = await startNodes(MEMORY, { eventsBurst: 40, eventsPerSecond: 100 });
  await using link = await TcpSwitch.to(Number(new URL(nodes.url(0)).port));
  await using clients = new Clients();
  const { ann, ben, room, bens } = await twoMembers(clients, [link.url, nodes.url(0)]);
  const states: string[] = [];
  ann.on('state', (state) => states.push(state));
  const received: number[] = [];
  bens.on('signal', ({ data }) => received.push(Number(data)));
  const send = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => room.signal(ben.userId ?? '', first + index));

  const before = Promise.allSettled(send(0, 200));
  await expect.poll(() => received.length).toBeGreaterThan(50);
  const back = reaches(ann, 'reconnecting').then(() => reaches(ann, 'online'));
  link.cut();
  await back;
  const after = Promise.allSettled(send(1_000, 100));

  const outcomes = [...(await before), ...(await after)];
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason.code)] : []));
  expect(refused).not.toContain('RATE_LIMITED');
  await expect.poll(() => received.at(-1)).toBe(1_099);
  expect(received).toEqual([...received].sort((a, b) => a - b));
  expect(states).toEqual(['reconnecting', 'online']);
});

test('signals that queue on a link that stalls are within the burst when they arrive together', async () => {
  await using nodes = await startNodes(MEMORY, { eventsBurst: 40, eventsPerSecond: 100 });
  await using link = await startProxy(Number(new URL(nodes.url(0)).port));
  await using clients = new Clients();
  const { ben, room, bens } = await twoMembers(clients, [`http://127.0.0.1:${link.port}`, nodes.url(0)]);
  const received: unknown[] = [];
  bens.on('signal', ({ data }) => received.push(data));
  const numbers = Array.from({ length: COUNT }, (_, number) => number);
  link.freeze();
  const sent = Promise.all(numbers.map((number) => room.signal(ben.userId ?? '', number)));
  // Meanwhile the server's bucket is full: all that is sent comes out of one burst.
  setTimeout(() => link.thaw(), STALL_MS);
  await sent;
  expect(received).toEqual(numbers);
});

test('of thirty members that join at once, signal to seven and change their profiles, none is refused', async () => {
  await using nodes = await startNodes(MEMORY, { eventsBurst: 100, eventsPerSecond: 40 });
  await using clients = new Clients();
  const crowd = Array.from({ length: 30 }, () => clients.connect(nodes.url(0)));
  const retries: string[] = [];
  for (const client of crowd) client.on('retry', ({ error }) => retries.push(error.code));
  const [first, ...others] = crowd;
  const room = (await first?.create({ maxUsers: 30 })) ?? expect.unreachable();
  const rooms = [room, ...(await Promise.all(others.map((client) => client.join(room.code))))];
  let received = 0;
  for (const each of rooms)
    each.on('signal', () => {
      received += 1;
    });
  const requests = rooms.flatMap((each, index) => [
    ...Array.from({ length: COUNT }, (_, number) =>
      each.signal(crowd[(index + 1 + (number % 7)) % 30]?.userId ?? '', number),
    ),
    each.message('hello'),
    ...[1, 2, 3].map((turn) => each.setProfile({ metadata: { turn } })),
  ]);
  const refused = (await Promise.allSettled(requests)).flatMap((outcome) =>
    outcome.status === 'rejected' ? [String(outcome.reason.code)] : [],
  );
  expect(refused).toEqual([]);
  await expect.poll(() => received).toBe(30 * COUNT);
  expect(retries).toEqual([]);
});

test('other requests of a room do not wait for the signals that wait', async () => {
  await using nodes = await startNodes(MEMORY, { eventsBurst: 40, eventsPerSecond: 20 });
  await using clients = new Clients();
  const { ben, room } = await twoMembers(clients, [nodes.url(0), nodes.url(0)]);
  const finished: string[] = [];
  const signals = Array.from({ length: 60 }, () => room.signal(ben.userId ?? '', null));
  const last = Promise.all(signals).then(() => finished.push('signals'));
  await Promise.all(Array.from({ length: 8 }, (_, turn) => room.setProfile({ metadata: { turn } })));
  finished.push('profiles');
  await last;
  expect(finished).toEqual(['profiles', 'signals']);
});

test('signals that wait when their room is left are rejected at once, and cost the next room nothing', async () => {
  // One signal a second: what had been paid for the waiting ones would hold the next room up for minutes.
  await using nodes = await startNodes(MEMORY, { eventsBurst: 40, eventsPerSecond: 1 });
  await using clients = new Clients();
  const { ann, ben, room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(0)]);
  const received: unknown[] = [];
  bens.on('signal', ({ data }) => received.push(data));
  const codes: string[] = [];
  for (let number = 0; number < 300; number += 1) {
    room.signal(ben.userId ?? '', number).catch(({ code }) => codes.push(code));
  }
  await expect.poll(() => received.length).toBeGreaterThan(10);
  const waiting = 300 - received.length;
  const next = await ann.create();
  await ben.join(next.code);
  expect(codes.length).toBeGreaterThanOrEqual(waiting - 1);
  expect(new Set(codes)).toEqual(new Set(['CLOSED']));
  await next.signal(ben.userId ?? '', 'the first of the next room');
});
