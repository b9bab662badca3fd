/** A lost connection comes back by itself, as the same user, on the same seat: or the room says what became of it. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Nodes, startNodes, TOPOLOGIES } from '../support/nodes.ts';
import { startProxy } from '../support/proxy.ts';
import { agree, barrier, Clients, eventsOf, next, reaches, twoMembers, until } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

const portOf = (nodes: Nodes, number: number) => nodes.servers[number % nodes.servers.length]?.port ?? 0;

for (const topology of TOPOLOGIES) {
  describe(`within the grace: ${topology.name}`, () => {
    let nodes: Nodes;
    beforeAll(async () => {
      nodes = await startNodes(topology);
    });
    afterAll(() => nodes[Symbol.asyncDispose]());

    test('the seat is kept: one session is resumed, and the others see away and back, nothing else', async () => {
      await using tcp = await TcpSwitch.to(portOf(nodes, 1));
      await using clients = new Clients();
      const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
      const [seen, told] = [eventsOf(room), eventsOf(bens)];
      const { self, members } = bens;
      const userId = ben.userId;
      tcp.block();
      await reaches(ben, 'reconnecting');
      expect([ben.room, bens.ending, bens.members]).toEqual([bens, null, members]);
      await next(ben, 'retry');
      await next(ben, 'retry');
      const resumed = next(bens, 'resumed');
      tcp.clear();
      await resumed;
      await reaches(ben, 'online');
      await barrier(room, bens);
      expect(ben.userId).toBe(userId);
      expect(bens.self).toEqual(self);
      expect(seen.slice(0, 2)).toEqual(['member:away Ben', 'member:back Ben']);
      expect(seen).toHaveLength(3);
      expect(told.filter((words) => !words.startsWith('message'))).toEqual(['resumed']);
      await agree(room, bens);
      expect(tcp.welcomes).toBe(2);
      expect(tcp.open).toBe(1);
    });

    test('a hundred of its events missed: the snapshot tells them', async () => {
      await using tcp = await TcpSwitch.to(portOf(nodes, 1));
      await using clients = new Clients();
      const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
      const cat = clients.connect(nodes.url(0), { name: 'Cat' });
      tcp.block();
      await until(room, ({ members }) => members[1]?.state === 'away');
      for (let hand = 0; hand < 50; hand += 1) await room.setProfile({ metadata: { hand } });
      await cat.join(room.code);
      await room.update({ name: 'Tea' });
      const told = eventsOf(bens);
      tcp.clear();
      await reaches(ben, 'online');
      expect(told.sort()).toEqual(['member:joined Cat', 'member:updated Ann', 'resumed', 'room:updated']);
      await agree(room, bens);
    });

    test('a host is host again, and a locked, full room has its seat for who comes back', async () => {
      await using tcp = await TcpSwitch.to(portOf(nodes, 0));
      await using clients = new Clients();
      const { ann, room, bens } = await twoMembers(clients, [tcp.url, nodes.url(1)]);
      await room.update({ maxUsers: 2, locked: true });
      const resumed = next(room, 'resumed');
      tcp.cut();
      await resumed;
      await reaches(ann, 'online');
      await room.update({ name: 'Still mine' });
      await until(bens, ({ snapshot }) => snapshot.name === 'Still mine');
      expect(bens.snapshot.hostId).toBe(ann.userId);
    });

    test('again and again, also while it is coming back', async () => {
      await using tcp = await TcpSwitch.to(portOf(nodes, 1));
      await using clients = new Clients();
      const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
      const seen = eventsOf(room);
      for (let round = 0; round < 5; round += 1) {
        const connecting = new Promise<void>((resolve) => tcp.onDown(() => resolve()));
        tcp.cut();
        await reaches(ben, 'reconnecting');
        await connecting;
        // In the middle of the handshake, of the welcome, or of what comes after it.
        for (let turn = 0; turn < round; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        tcp.cut();
        await reaches(ben, 'online');
      }
      await barrier(room, bens);
      expect(seen.filter((words) => !/^(member:(away|back)|message)/.test(words))).toEqual([]);
      expect(bens.self.seq).toBe(2);
      await agree(room, bens);
    });
  });
}

test('a connection that swallows everything is noticed by the missing pings', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 2 }, { pingIntervalMs: 500, pingTimeoutMs: 1000 });
  await using proxy = await startProxy(portOf(nodes, 1));
  await using clients = new Clients();
  const url = `http://127.0.0.1:${proxy.port}`;
  const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), url], { ben: { timeoutMs: 2000 } });
  const { self } = bens;
  proxy.freeze();
  await reaches(ben, 'reconnecting');
  await until(room, ({ members }) => members[1]?.state === 'away');
  const resumed = next(bens, 'resumed');
  proxy.thaw();
  await resumed;
  await reaches(ben, 'online');
  expect(bens.self).toEqual(self);
  await barrier(room, bens);
});

test('after a sleep: what is asked first goes over the new connection, and does not wait for an answer on the old one', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using clients = new Clients();
  const client = clients.connect(nodes.url(0));
  const room = await client.create();
  const resumed = next(room, 'resumed');
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
  }, 9000);
  // Socket.IO sees by this clock that no ping has come for too long.
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  const updated = room.update({ name: 'Tea' });
  await new Promise((resolve) => setImmediate(resolve));
  clock.mockRestore();
  await resumed;
  await updated;
  clearTimeout(timer);
  expect([room.snapshot.name, isLate]).toEqual(['Tea', false]);
});
