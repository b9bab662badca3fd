/** A node dies or drains; the client resumes on another node, on the same seat. */
import { expect, test } from 'vitest';
import { startFleet } from '../support/fleet.ts';
import { startNginx } from '../support/nginx.ts';
import { startNodes } from '../support/nodes.ts';
import { agree, barrier, Clients, eventsOf, next, reaches, twoMembers, until } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

/** The events of the other members. */
const AWAY_AND_BACK = ['member:away Ben', 'member:back Ben'];

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a node that ends by %s: its client resumes on another node, and no member has left',
  async (signal) => {
    await using fleet = await startFleet(2);
    await using tcp = await TcpSwitch.to(fleet.node(0).port);
    await using clients = new Clients();
    const { ben, room, bens } = await twoMembers(clients, [fleet.node(1).url, tcp.url]);
    const [seen, told] = [eventsOf(room), eventsOf(bens)];
    const resumed = next(bens, 'resumed');
    tcp.switchTo(fleet.node(1).port);
    fleet.node(0).child.signal(signal);
    await resumed;
    await reaches(ben, 'online');
    await barrier(room, bens);
    expect(seen.slice(0, -1)).toEqual(AWAY_AND_BACK);
    expect(told.slice(0, -1)).toEqual(['resumed']);
    expect(tcp.welcomes).toBe(2);
    await agree(room, bens);
  },
);

test('behind nginx, all clients are in one room again after a node was killed', async () => {
  await using fleet = await startFleet(2);
  await using nginx = await startNginx({ upstreams: [0, 1].map((number) => `127.0.0.1:${fleet.node(number).port}`) });
  await using clients = new Clients();
  const ann = clients.connect(nginx.url, { name: 'Ann' });
  const room = await ann.create();
  const others = Array.from({ length: 5 }, (_, number) => clients.connect(nginx.url, { name: `Ben ${number}` }));
  const rooms = [room, ...(await Promise.all(others.map((client) => client.join(room.code))))];
  const seats = () => room.members.map(({ userId, seq, state }) => [userId, seq, state]);
  await until(room, ({ members }) => members.length === 6);
  await Promise.all(rooms.map((it) => agree(room, it)));
  const before = seats();
  const events = rooms.map(eventsOf);
  // nginx has spread them over both nodes.
  const resumed = Promise.race(rooms.map((it) => next(it, 'resumed')));
  await fleet.node(0).child.kill();
  await resumed;
  await Promise.all([ann, ...others].map((client) => reaches(client, 'online')));
  for (const speaker of rooms) await barrier(room, speaker);
  await Promise.all(rooms.map((it) => agree(room, it)));
  expect(seats()).toEqual(before);
  for (const told of events) expect(told.filter((words) => /left|joined|rejoined|ended/.test(words))).toEqual([]);
});

test('clients of a draining node reconnect at the time that it told them, not before and not much later', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 2 });
  const [first, second] = nodes.servers;
  await using tcp = await TcpSwitch.to(first?.port ?? 0);
  await using clients = new Clients();
  const crowd = Array.from({ length: 5 }, () =>
    clients.connect(tcp.url, { backoff: { baseMs: 60_000, maxMs: 60_000 } }),
  );
  const ann = clients.connect(second?.url ?? '');
  const room = await ann.create();
  const seen = eventsOf(room);
  await Promise.all(crowd.map((client) => client.join(room.code)));
  const asked: { reconnectInMs: number; at: number }[] = [];
  tcp.onDown((text) => {
    const reconnectInMs = /\["server:drain",\{"reconnectInMs":(\d+)\}\]/.exec(text)?.[1];
    if (reconnectInMs !== undefined) asked.push({ reconnectInMs: Number(reconnectInMs), at: performance.now() });
  });
  tcp.switchTo(second?.port ?? 0);
  const retries: unknown[] = [];
  for (const client of crowd) client.on('retry', (retry) => retries.push(retry));
  const resumed = Promise.all(crowd.map((client) => next(client.room ?? expect.unreachable(), 'resumed')));
  await first?.close();
  await resumed;
  await Promise.all(crowd.map((client) => reaches(client, 'online')));
  expect(asked).toHaveLength(5);
  expect(tcp.accepted).toBe(10);
  // Each client has a wait of its own: they come in the order of their waits.
  const due = asked.map(({ reconnectInMs, at }) => at + reconnectInMs).sort((one, other) => one - other);
  const came = tcp.times.slice(5);
  for (const [index, time] of came.entries()) {
    // Timers of Node may fire a millisecond early.
    expect(time).toBeGreaterThan((due[index] ?? 0) - 2);
    expect(time).toBeLessThan((due[index] ?? 0) + 5000);
  }
  await barrier(room);
  expect(seen.filter((words) => /left|joined|ended/.test(words))).toHaveLength(5);
  expect(retries, 'it is nothing to be told of').toEqual([]);
});
