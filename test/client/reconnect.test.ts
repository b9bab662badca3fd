/** A lost connection comes back by itself, as the same user, on the same seat: or the room says what became of it. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Nodes, STAGES, startNodes } from '../support/nodes.ts';
import { startProxy } from '../support/proxy.ts';
import { agree, becomes, holds, hush, next, Party, pairUp, story } from './people.ts';
import { Turnout } from './turnout.ts';

const portOf = (nodes: Nodes, number: number) => nodes.servers[number % nodes.servers.length]?.port ?? 0;

for (const stage of STAGES) {
  describe(`within the grace: ${stage.stage}`, () => {
    let nodes: Nodes;
    beforeAll(async () => {
      nodes = await startNodes(stage);
    });
    afterAll(() => nodes[Symbol.asyncDispose]());

    test('the seat is kept: one session is resumed, and the others see away and back, nothing else', async () => {
      await using way = await Turnout.lay(portOf(nodes, 1));
      await using party = new Party();
      const { ben, room, bens } = await pairUp(party, [nodes.url(0), way.url]);
      const [seen, told] = [story(room), story(bens)];
      const { self, members } = bens;
      const userId = ben.userId;
      way.block();
      await becomes(ben, 'reconnecting');
      expect([ben.room, bens.ending, bens.members]).toEqual([bens, null, members]);
      await next(ben, 'retry');
      await next(ben, 'retry');
      const resumed = next(bens, 'resumed');
      way.clear();
      await resumed;
      await becomes(ben, 'online');
      await hush(room, bens);
      expect(ben.userId).toBe(userId);
      expect(bens.self).toEqual(self);
      expect(seen.slice(0, 2)).toEqual(['member:away Ben', 'member:back Ben']);
      expect(seen).toHaveLength(3);
      expect(told.filter((words) => !words.startsWith('message'))).toEqual(['resumed']);
      await agree(room, bens);
      expect(way.welcomes).toBe(2);
      expect(way.open).toBe(1);
    });

    test('a hundred of its events missed: the snapshot tells them', async () => {
      await using way = await Turnout.lay(portOf(nodes, 1));
      await using party = new Party();
      const { ben, room, bens } = await pairUp(party, [nodes.url(0), way.url]);
      const cat = party.connect(nodes.url(0), { name: 'Cat' });
      way.block();
      await holds(room, ({ members }) => members[1]?.state === 'away');
      for (let hand = 0; hand < 50; hand += 1) await room.setProfile({ metadata: { hand } });
      await cat.join(room.code);
      await room.update({ name: 'Tea' });
      const told = story(bens);
      way.clear();
      await becomes(ben, 'online');
      expect(told.sort()).toEqual(['member:joined Cat', 'member:updated Ann', 'resumed', 'room:updated']);
      await agree(room, bens);
    });

    test('a host is host again, and a locked, full room has its seat for who comes back', async () => {
      await using way = await Turnout.lay(portOf(nodes, 0));
      await using party = new Party();
      const { ann, room, bens } = await pairUp(party, [way.url, nodes.url(1)]);
      await room.update({ maxUsers: 2, locked: true });
      const resumed = next(room, 'resumed');
      way.cut();
      await resumed;
      await becomes(ann, 'online');
      await room.update({ name: 'Still mine' });
      await holds(bens, ({ snapshot }) => snapshot.name === 'Still mine');
      expect(bens.snapshot.hostId).toBe(ann.userId);
    });

    test('again and again, also while it is coming back', async () => {
      await using way = await Turnout.lay(portOf(nodes, 1));
      await using party = new Party();
      const { ben, room, bens } = await pairUp(party, [nodes.url(0), way.url]);
      const seen = story(room);
      for (let round = 0; round < 5; round += 1) {
        const connecting = new Promise<void>((resolve) => way.onDown(() => resolve()));
        way.cut();
        await becomes(ben, 'reconnecting');
        await connecting;
        // In the middle of the handshake, of the welcome, or of what comes after it.
        for (let turn = 0; turn < round; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        way.cut();
        await becomes(ben, 'online');
      }
      await hush(room, bens);
      expect(seen.filter((words) => !/^(member:(away|back)|message)/.test(words))).toEqual([]);
      expect(bens.self.seq).toBe(2);
      await agree(room, bens);
    });
  });
}

test('a connection that swallows everything is noticed by the missing pings', async () => {
  await using nodes = await startNodes({ kind: 'redis', count: 2 }, { pingIntervalMs: 500, pingTimeoutMs: 1000 });
  await using proxy = await startProxy(portOf(nodes, 1));
  await using party = new Party();
  const url = `http://127.0.0.1:${proxy.port}`;
  const { ben, room, bens } = await pairUp(party, [nodes.url(0), url], { ben: { timeoutMs: 2000 } });
  const { self } = bens;
  proxy.freeze();
  await becomes(ben, 'reconnecting');
  await holds(room, ({ members }) => members[1]?.state === 'away');
  const resumed = next(bens, 'resumed');
  proxy.thaw();
  await resumed;
  await becomes(ben, 'online');
  expect(bens.self).toEqual(self);
  await hush(room, bens);
});

test('after a sleep: what is asked first goes over the new connection, and does not wait for an answer on the old one', async () => {
  await using nodes = await startNodes({ kind: 'memory', count: 1 });
  await using party = new Party();
  const client = party.connect(nodes.url(0));
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
