/** Many clients on two nodes, some on a slow network, join and leave at once: in the end all have the server's state. */
import { expect, test } from 'vitest';
import type { Client, Member, Room } from '../../src/client/index.ts';
import { connectClient } from '../support/client.ts';
import { startNodes } from '../support/nodes.ts';
import { startProxy } from '../support/proxy.ts';
import { Clients, until } from './harness.ts';

const CLIENTS = 30;
const ROUNDS = 4;

/** All clients show the same members at the same revision, and the events lead to the members that are shown. */
function checkConsistency(room: Room, seen: Map<number, string>): void {
  let told = new Map<string, Member>(room.members.map((member) => [member.userId, member]));
  room.on('member:joined', ({ member }) => told.set(member.userId, member));
  room.on('member:left', ({ member }) => told.delete(member.userId));
  room.on('member:away', ({ member }) => told.set(member.userId, member));
  room.on('member:back', ({ member }) => told.set(member.userId, member));
  room.on('member:updated', ({ member }) => told.set(member.userId, member));
  room.on('host:changed', ({ hostId }) => {
    told = new Map([...told].map(([id, member]) => [id, { ...member, role: id === hostId ? 'host' : 'member' }]));
  });
  const look = () => {
    const shown = JSON.stringify(room.members);
    expect(seen.get(room.rev) ?? shown).toBe(shown);
    seen.set(room.rev, shown);
    expect(JSON.stringify([...told.values()].sort((one, two) => one.seq - two.seq))).toBe(shown);
  };
  look();
  room.on('change', ({ room: { rev }, before }) => {
    expect(rev).toBeGreaterThan(before.rev);
    look();
  });
}

test('thirty clients on two nodes, some on a slow network, end with the state of the server', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 2 });
  await using slow = await startProxy(nodes.servers[1]?.port ?? 0, { delayMs: 80 });
  await using clients = new Clients();
  const urls = [nodes.url(0), nodes.url(1), `http://127.0.0.1:${slow.port}`];
  await using witness = await connectClient(nodes.url(0));
  const { room } = await witness.must('room:create', { maxUsers: 100 });
  const seen = new Map<number, string>();

  const live = async (client: Client, number: number): Promise<Room> => {
    let seat: Room | undefined;
    for (let round = 0; round <= number % ROUNDS; round += 1) {
      seat = await client.join(room.code);
      checkConsistency(seat, seen);
      await seat.setProfile({ metadata: { number, round } });
      if (round < number % ROUNDS) await seat.leave();
    }
    return seat ?? expect.unreachable();
  };
  const crowd = Array.from({ length: CLIENTS }, (_, n) => clients.connect(urls[n % 3] ?? '', { name: `client ${n}` }));
  const seats = await Promise.all(crowd.map(live));

  const { room: truth } = await witness.must('room:get');
  expect(truth.members).toHaveLength(CLIENTS + 1);
  await Promise.all(seats.map((seat) => until(seat, ({ rev }) => rev >= truth.rev)));
  for (const seat of seats) expect(seat.snapshot).toEqual(truth);
  expect(seen.size).toBeGreaterThan(2 * CLIENTS);

  // Half of them leave, the others close.
  await Promise.all(seats.map((seat, n) => (n % 2 === 0 ? seat.leave() : (crowd[n]?.close() ?? Promise.reject()))));
  const { room: after } = await witness.must('room:get');
  expect(after.members.map(({ userId }) => userId)).toEqual([witness.userId]);
});
