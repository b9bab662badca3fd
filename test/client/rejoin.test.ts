/** A client that returns after the grace period has lost its seat, and tries to get another one in the same room. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Room } from '../../src/client/index.ts';
import { type MemoryNode, startMemoryNode } from '../support/memory-node.ts';
import { agree, Clients, eventsOf, next, reaches, twoMembers, until } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

let nodes: MemoryNode;
beforeAll(async () => {
  nodes = await startMemoryNode({ graceMs: 200, tickMs: 100 });
});
afterAll(() => nodes[Symbol.asyncDispose]());

/** Ben is away beyond the grace period; his client does not know yet that his seat is lost. */
async function outlastGrace(clients: Clients, tcp: TcpSwitch) {
  const pair = await twoMembers(clients, [nodes.url(0), tcp.url]);
  tcp.block();
  await until(pair.room, ({ members }) => members.length === 1);
  return pair;
}

test('if the room exists, the client takes another seat in it and keeps its profile', async () => {
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const pair = await twoMembers(clients, [nodes.url(0), tcp.url]);
  const { ben, room, bens } = pair;
  await bens.setProfile({ name: 'Benjamin', mediaType: 'video', metadata: { hand: true } });
  await until(room, ({ members }) => members[1]?.name === 'Benjamin');
  const [seen, told] = [eventsOf(room), eventsOf(bens)];
  const { self } = bens;
  tcp.block();
  await until(room, ({ members }) => members.length === 1);
  const rejoined = next(bens, 'rejoined');
  tcp.clear();
  await rejoined;
  expect(bens.self).toEqual({ ...self, seq: 3, joinedAt: expect.any(Number) });
  expect([ben.room, bens.ending]).toEqual([bens, null]);
  await until(room, ({ members }) => members.length === 2);
  expect(seen).toEqual(['away', 'left', 'joined'].map((what) => `member:${what} Benjamin`));
  expect(told).toEqual(['member:left Benjamin', 'member:joined Benjamin', 'rejoined']);
  await reaches(ben, 'online');
  await agree(room, bens);
});

test('if the room has ended, it ends for the client, and the client goes on', async () => {
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const { ben, room, bens } = await outlastGrace(clients, tcp);
  await room.close();
  const ended = next(bens, 'ended');
  tcp.clear();
  expect(await ended).toEqual({ reason: 'expired' });
  await reaches(ben, 'online');
  expect([ben.room, ben.ending]).toEqual([null, null]);
  expect((await ben.create()).members).toHaveLength(1);
});

test('if the room was closed within the grace period, it ends for the client, too', async () => {
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
  tcp.block();
  await reaches(ben, 'reconnecting');
  await room.close();
  const ended = next(bens, 'ended');
  tcp.clear();
  expect(await ended).toEqual({ reason: 'expired' });
});

test.each([
  ['ROOM_FULL', { maxUsers: 2 }],
  ['ROOM_LOCKED', { locked: true }],
] as const)('the room does not take it back: %s', async (code, changes) => {
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const { ben, room, bens } = await outlastGrace(clients, tcp);
  const cat = clients.connect(nodes.url(0));
  await cat.join(room.code);
  await room.update(changes);
  const ended = next(bens, 'ended');
  tcp.clear();
  expect(await ended).toMatchObject({ reason: 'refused', error: { code, retryable: false } });
  await reaches(ben, 'online');
  expect([ben.room, ben.ending]).toEqual([null, null]);
  expect(bens.members, 'the last that it knew').toHaveLength(2);
});

test('if another room has the code by now, the client does not join it', async () => {
  await using few = await startMemoryNode({ graceMs: 200, tickMs: 100, poolSize: 100, codeCooldownMs: 0 });
  await using tcp = await TcpSwitch.to(few.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const { room, bens, ann } = await twoMembers(clients, [few.url(0), tcp.url]);
  const { code, ref } = room;
  tcp.block();
  await until(room, ({ members }) => members.length === 1);
  await room.close();
  // All codes are taken, so this one too: an empty room keeps its code for a while.
  const rooms: Room[] = [];
  while (rooms.length < 100) rooms.push(await ann.create());
  expect(rooms.find((other) => other.code === code)?.ref).not.toBe(ref);
  const ended = next(bens, 'ended');
  tcp.clear();
  expect(await ended).toEqual({ reason: 'expired' });
});
