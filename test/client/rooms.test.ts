/** One client and several rooms: it is in one at a time, also after concurrent requests. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Client, Room } from '../../src/client/index.ts';
import type { SessionNumber } from '../../src/protocol/ids.ts';
import { connectClient } from '../support/client.ts';
import { type Nodes, startNodes, TOPOLOGIES } from '../support/nodes.ts';
import { startProxy } from '../support/proxy.ts';
import { agree, barrier, Clients, eventsOf, next, reaches, twoMembers, until } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

/** An answer after this is too late; usual answers take far less. */
const LATE_MS = 2000;

/** The client is in that room and in no other, on the server too. */
async function isIn(client: Client, room: Room, others: readonly Room[]): Promise<void> {
  expect(client.room).toBe(room);
  await room.message('here');
  for (const other of others) {
    await until(other, ({ members }) => members.every(({ userId }) => userId !== client.userId));
  }
}

for (const topology of TOPOLOGIES) {
  describe(`changing rooms: ${topology.name}`, () => {
    let nodes: Nodes;
    beforeAll(async () => {
      nodes = await startNodes(topology);
    });
    afterAll(() => nodes[Symbol.asyncDispose]());

    test('a client leaves the first room when the second join has succeeded, and only then', async () => {
      await using clients = new Clients();
      const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(1)]);
      const cat = clients.connect(nodes.url(0));
      const other = await cat.create({ maxUsers: 2 });
      const dan = clients.connect(nodes.url(1));
      await dan.join(other.code);
      await expect(ben.join(other.code)).rejects.toMatchObject({ code: 'ROOM_FULL' });
      expect([ben.room, bens.ending]).toEqual([bens, null]);
      await barrier(room, bens);
      expect(room.members).toHaveLength(2);

      const order: string[] = [];
      bens.on('ended', ({ reason }) => order.push(`ended ${reason}`));
      ben.on('room', () => order.push('room'));
      const left = next(room, 'member:left');
      const third = await ben.create();
      expect(order).toEqual(['ended left', 'room']);
      expect((await left).reason).toBe('left');
      await isIn(ben, third, [room]);
      await expect(bens.message('x')).rejects.toMatchObject({ code: 'CLOSED' });
    });

    test('after concurrent joins, the client is in the room that it asked for last', async () => {
      await using clients = new Clients();
      const hosts = Array.from({ length: 4 }, (_, n) => clients.connect(nodes.url(n)));
      const rooms = await Promise.all(hosts.map((host) => host.create()));
      const client = clients.connect(nodes.url(1));
      const seats = await Promise.all(rooms.map(({ code }) => client.join(code)));
      expect(seats.map(({ ending }) => ending?.reason ?? null)).toEqual(['left', 'left', 'left', null]);
      await isIn(client, seats[3] ?? expect.unreachable(), rooms.slice(0, 3));
      await until(rooms[3] ?? expect.unreachable(), ({ members }) => members.length === 2);
    });

    test('two joins of the same room give one seat and one object', async () => {
      await using clients = new Clients();
      const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(1)]);
      const told = eventsOf(bens);
      const [one, two] = await Promise.all([ben.join(room.code), ben.join(room.code)]);
      expect([one, two]).toEqual([bens, bens]);
      await barrier(bens, room);
      expect([told.length, room.members.length, bens.self.seq]).toEqual([1, 2, 2]);
    });

    test('after a leave during a join, the join counts; if it is refused, the seat is free all the same', async () => {
      await using clients = new Clients();
      const { ann, ben, room, bens } = await twoMembers(clients, [nodes.url(0), nodes.url(1)]);
      const cat = clients.connect(nodes.url(0));
      const other = await cat.create();
      const joining = ben.join(other.code);
      await bens.leave();
      await isIn(ben, await joining, [room]);
      await until(other, ({ members }) => members.length === 2);

      const again = await ben.join(room.code);
      await other.update({ locked: true });
      const refused = ben.join(other.code);
      const left = next(room, 'member:left');
      await again.leave();
      await expect(refused).rejects.toMatchObject({ code: 'ROOM_LOCKED' });
      expect((await left).member.userId).toBe(ben.userId);
      expect([ben.room, ann.room]).toEqual([null, room]);
    });
  });
}

// They wait most of the time: so they run side by side.
describe.concurrent('after an answer that comes too late', () => {
  test.each(['create', 'join'] as const)('%s: the seat that no caller waits for any more is freed', async (name) => {
    await using nodes = await startNodes({ kind: 'memory', count: 1 });
    await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
    await using clients = new Clients();
    await using witness = await connectClient(nodes.url(0));
    const { room } = await witness.must('room:create');
    const client = clients.connect(`http://127.0.0.1:${proxy.port}`, { timeoutMs: LATE_MS });
    await reaches(client, 'online');
    let code = room.code;
    proxy.onDown((chunk) => {
      code = (/"code":"(\d{6})"/.exec(chunk.toString())?.[1] as typeof code | undefined) ?? code;
    });
    proxy.freeze();
    const asked = name === 'create' ? client.create() : client.join(code);
    await expect(asked).rejects.toMatchObject({ code: 'TIMEOUT' });
    proxy.thaw();
    const there = async () => {
      const found = await nodes.servers[0]?.engine.apply({ kind: 'read', code });
      return found?.ok ? found.room.members.map(({ userId }) => userId) : [];
    };
    if (name === 'join') {
      await witness.next('member:joined');
      expect((await witness.next('member:left')).reason).toBe('left');
      expect(await there()).toEqual([witness.userId]);
    } else {
      await vi.waitFor(() => expect(code).not.toBe(room.code));
      await vi.waitFor(async () => expect(await there()).toEqual([]));
    }
    expect([client.room, client.state]).toEqual([null, 'online']);
    expect((await client.join(room.code)).members).toHaveLength(2);
  });

  test('to a join of another room, the client is back in its old room', async () => {
    await using nodes = await startNodes({ kind: 'memory', count: 1 });
    await using proxy = await startProxy(nodes.servers[0]?.port ?? 0);
    await using clients = new Clients();
    const url = `http://127.0.0.1:${proxy.port}`;
    const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), url], { ben: { timeoutMs: LATE_MS } });
    const cat = clients.connect(nodes.url(0));
    const other = await cat.create();
    const seen = eventsOf(other);
    const rejoined = next(bens, 'rejoined');
    proxy.freeze();
    await expect(ben.join(other.code)).rejects.toMatchObject({ code: 'TIMEOUT' });
    proxy.thaw();
    await rejoined;
    await barrier(other);
    expect(seen.slice(0, 2)).toEqual(['member:joined Ben', 'member:left Ben']);
    expect([ben.room, bens.ending]).toEqual([bens, null]);
    await agree(room, bens);
  });
});

test('a client that learns by a heartbeat that its seat is lost takes another one', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 }, { heartbeatIntervalMs: 100 });
  await using tcp = await TcpSwitch.to(nodes.servers[0]?.port ?? 0);
  await using clients = new Clients();
  const sessions = new Promise<SessionNumber>((resolve) => {
    tcp.onDown((text) => {
      const number = /"session":(\d+)/.exec(text)?.[1];
      if (number !== undefined) resolve(Number(number) as SessionNumber);
    });
  });
  const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
  const session = await sessions;
  const rejoined = next(bens, 'rejoined');
  const { code, ref } = room;
  await nodes.servers[0]?.engine.apply({ kind: 'leave', code, ref, userId: bens.self.userId, session });
  await rejoined;
  expect(bens.self.seq).toBe(3);
  expect([ben.state, tcp.accepted]).toEqual(['online', 1]);
  // The command went to the engine directly, so no event was sent: the next heartbeat shows it.
  await until(room, ({ members }) => members[1]?.seq === 3);
});
