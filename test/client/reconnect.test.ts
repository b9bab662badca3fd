/** A lost connection is restored by itself, for the same user and on the same seat. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Nodes, startNodes, TOPOLOGIES } from '../support/nodes.ts';
import { startProxy } from '../support/proxy.ts';
import { agree, barrier, Clients, eventsOf, next, reaches, twoMembers, until } from './harness.ts';
import { TcpSwitch } from './tcp-switch.ts';

const portOf = (nodes: Nodes, number: number) => nodes.servers[number % nodes.servers.length]?.port ?? 0;

for (const topology of TOPOLOGIES) {
  describe(`within the grace period: ${topology.name}`, () => {
    let nodes: Nodes;
    beforeAll(async () => {
      nodes = await startNodes(topology);
    });
    afterAll(() => nodes[Symbol.asyncDispose]());

    test('one session is resumed on the same seat, and the others see away and back, nothing else', async () => {
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

    test('a hundred missed events are replaced by the snapshot', async () => {
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

    test('a host is host again, also in a locked and full room', async () => {
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

    test('the connection is restored again and again, also when it is cut while being restored', async () => {
      await using tcp = await TcpSwitch.to(portOf(nodes, 1));
      await using clients = new Clients();
      const { ben, room, bens } = await twoMembers(clients, [nodes.url(0), tcp.url]);
      const seen = eventsOf(room);
      for (let round = 0; round < 5; round += 1) {
        const connecting = new Promise<void>((resolve) => tcp.onDown(() => resolve()));
        tcp.cut();
        await reaches(ben, 'reconnecting');
        await connecting;
        // During the handshake, the welcome, or the restoration after it.
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

test('missing pings show that a connection is dead', async () => {
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

test('the first request after a sleep of the device uses a new connection, and does not wait on the dead one', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using clients = new Clients();
  const client = clients.connect(nodes.url(0));
  const room = await client.create();
  const resumed = next(room, 'resumed');
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
  }, 9000);
  // Socket.IO compares the time of the last ping with this clock.
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  const updated = room.update({ name: 'Tea' });
  await new Promise((resolve) => setImmediate(resolve));
  clock.mockRestore();
  await resumed;
  await updated;
  clearTimeout(timer);
  expect([room.snapshot.name, isLate]).toEqual(['Tea', false]);
});
