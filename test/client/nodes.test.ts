/** Nodes die and go away; the client finds another, and its seat is kept. */
import { expect, test } from 'vitest';
import { startFleet } from '../support/fleet.ts';
import { startNginx } from '../support/nginx.ts';
import { startNodes } from '../support/nodes.ts';
import { agree, becomes, holds, hush, next, Party, pairUp, story } from './people.ts';
import { Turnout } from './turnout.ts';

/** What the others see of it. */
const AWAY_AND_BACK = ['member:away Ben', 'member:back Ben'];

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a node ends by %s: resumed on another one, and nobody has left',
  async (signal) => {
    await using fleet = await startFleet(2);
    await using way = await Turnout.lay(fleet.node(0).port);
    await using party = new Party();
    const { ben, room, bens } = await pairUp(party, [fleet.node(1).url, way.url]);
    const [seen, told] = [story(room), story(bens)];
    const resumed = next(bens, 'resumed');
    way.to(fleet.node(1).port);
    fleet.node(0).child.signal(signal);
    await resumed;
    await becomes(ben, 'online');
    await hush(room, bens);
    expect(seen.slice(0, -1)).toEqual(AWAY_AND_BACK);
    expect(told.slice(0, -1)).toEqual(['resumed']);
    expect(way.welcomes).toBe(2);
    await agree(room, bens);
  },
);

test('behind nginx: whichever node is killed, all clients are in one room again', async () => {
  await using fleet = await startFleet(2);
  await using nginx = await startNginx({ upstreams: [0, 1].map((number) => `127.0.0.1:${fleet.node(number).port}`) });
  await using party = new Party();
  const ann = party.connect(nginx.url, { name: 'Ann' });
  const room = await ann.create();
  const others = Array.from({ length: 5 }, (_, number) => party.connect(nginx.url, { name: `Ben ${number}` }));
  const rooms = [room, ...(await Promise.all(others.map((client) => client.join(room.code))))];
  const seats = () => room.members.map(({ userId, seq, state }) => [userId, seq, state]);
  await holds(room, ({ members }) => members.length === 6);
  await Promise.all(rooms.map((it) => agree(room, it)));
  const before = seats();
  const stories = rooms.map(story);
  // Some of them are on that node, some on the other: nginx spreads them.
  const resumed = Promise.race(rooms.map((it) => next(it, 'resumed')));
  await fleet.node(0).child.kill();
  await resumed;
  await Promise.all([ann, ...others].map((client) => becomes(client, 'online')));
  for (const speaker of rooms) await hush(room, speaker);
  await Promise.all(rooms.map((it) => agree(room, it)));
  expect(seats()).toEqual(before);
  for (const told of stories) expect(told.filter((words) => /left|joined|rejoined|ended/.test(words))).toEqual([]);
});

test('a node that drains says when to come back: not before, and not much later', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 2 });
  const [first, second] = nodes.servers;
  await using way = await Turnout.lay(first?.port ?? 0);
  await using party = new Party();
  const clients = Array.from({ length: 5 }, () =>
    party.connect(way.url, { backoff: { baseMs: 60_000, maxMs: 60_000 } }),
  );
  const ann = party.connect(second?.url ?? '');
  const room = await ann.create();
  const seen = story(room);
  await Promise.all(clients.map((client) => client.join(room.code)));
  const asked: { reconnectInMs: number; at: number }[] = [];
  way.onDown((text) => {
    const reconnectInMs = /\["server:drain",\{"reconnectInMs":(\d+)\}\]/.exec(text)?.[1];
    if (reconnectInMs !== undefined) asked.push({ reconnectInMs: Number(reconnectInMs), at: performance.now() });
  });
  way.to(second?.port ?? 0);
  const retries: unknown[] = [];
  for (const client of clients) client.on('retry', (retry) => retries.push(retry));
  const resumed = Promise.all(clients.map((client) => next(client.room ?? expect.unreachable(), 'resumed')));
  await first?.close();
  await resumed;
  await Promise.all(clients.map((client) => becomes(client, 'online')));
  expect(asked).toHaveLength(5);
  expect(way.accepted).toBe(10);
  // Each came at its own time: the n-th to come is the one that was asked to be the n-th.
  const due = asked.map(({ reconnectInMs, at }) => at + reconnectInMs).sort((one, other) => one - other);
  const came = way.times.slice(5);
  for (const [index, time] of came.entries()) {
    // Timers of Node may be a millisecond early.
    expect(time).toBeGreaterThan((due[index] ?? 0) - 2);
    expect(time).toBeLessThan((due[index] ?? 0) + 5000);
  }
  await hush(room);
  expect(seen.filter((words) => /left|joined|ended/.test(words))).toHaveLength(5);
  expect(retries, 'it is nothing to be told of').toEqual([]);
});
