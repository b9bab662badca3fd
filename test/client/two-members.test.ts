/** The functions of a room with two members, on every topology. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Nodes, startNodes, TOPOLOGIES } from '../support/nodes.ts';
import { barrier, Clients, eventsOf, next, reaches, twoMembers, until } from './harness.ts';

for (const topology of TOPOLOGIES) {
  describe(`two members: ${topology.name}`, () => {
    let nodes: Nodes;
    beforeAll(async () => {
      nodes = await startNodes(topology);
    });
    afterAll(() => nodes[Symbol.asyncDispose]());
    const urls = () => [nodes.url(0), nodes.url(1)] as const;

    test('both see the same room after create and join, and themselves in it', async () => {
      await using clients = new Clients();
      const ann = clients.connect(nodes.url(0), { name: 'Ann' });
      expect([ann.state, ann.userId, ann.room]).toEqual(['connecting', null, null]);
      const made = next(ann, 'room');
      const room = await ann.create({
        name: 'Tea',
        maxUsers: 3,
        metadata: { cups: 2 },
        profile: { mediaType: 'video' },
      });
      expect(await made).toBe(room);
      expect(ann).toMatchObject({ state: 'online', ending: null, room });
      expect(room).toMatchObject({ code: expect.stringMatching(/^[1-9]\d{5}$/), rev: 1, ending: null });
      expect(room.snapshot).toMatchObject({ name: 'Tea', maxUsers: 3, metadata: { cups: 2 }, hostId: ann.userId });
      expect(room.self).toMatchObject({ userId: ann.userId, name: 'Ann', role: 'host', seq: 1, mediaType: 'video' });

      const ben = clients.connect(nodes.url(1));
      const joined = next(room, 'member:joined');
      const bens = await ben.join(` ${room.code.slice(0, 3)}-${room.code.slice(3)} `, { profile: { name: 'Ben' } });
      expect((await joined).member).toEqual(bens.self);
      expect(bens.snapshot).toEqual(room.snapshot);
      expect(bens.members.map(({ name }) => name)).toEqual(['Ann', 'Ben']);
      expect(bens.self).toMatchObject({ userId: ben.userId, role: 'member', seq: 2 });
      expect(bens.ref).toBe(room.ref);
    });

    test('signals reach one member in order, also those before there is a listener', async () => {
      await using clients = new Clients();
      const { ann, ben, room, bens } = await twoMembers(clients, urls());
      for (const number of [1, 2, 3]) await room.signal(bens.self.userId, { number });
      const heard: unknown[] = [];
      bens.on('signal', ({ from, data }) => heard.push([from, data]));
      await room.signal(bens.self.userId, { number: 4 });
      await barrier(bens, room);
      expect(heard).toEqual([1, 2, 3, 4].map((number) => [ann.userId, { number }]));
      const answer = next(room, 'signal');
      await bens.signal(room.self.userId, null);
      expect(await answer).toMatchObject({ from: ben.userId, data: null });
    });

    test('a message reaches all members, its sender too', async () => {
      await using clients = new Clients();
      const { ann, room, bens } = await twoMembers(clients, urls());
      const heard = Promise.all([next(room, 'message'), next(bens, 'message')]);
      await room.message({ text: 'hello' });
      for (const message of await heard) expect(message).toMatchObject({ from: ann.userId, data: { text: 'hello' } });
    });

    test('profiles and settings are changed for all', async () => {
      await using clients = new Clients();
      const { room, bens } = await twoMembers(clients, urls());
      const before = bens.self;
      const [seen, own] = [next(room, 'member:updated'), next(bens, 'member:updated')];
      await bens.setProfile({ name: 'Benjamin', mediaType: 'audio', metadata: [1] });
      expect(await seen).toEqual({
        member: { ...before, name: 'Benjamin', mediaType: 'audio', metadata: [1] },
        before,
      });
      await own;
      expect(bens.self).toEqual((await seen).member);

      const updated = next(bens, 'room:updated');
      await room.update({ name: 'Tea', locked: true });
      const { room: after, before: was } = await updated;
      expect([after.name, after.locked, was.name, was.locked]).toEqual(['Tea', true, null, false]);
      expect(bens.snapshot).toMatchObject({ name: 'Tea', locked: true });
    });

    test('a member that leaves frees its seat, and the next one becomes host', async () => {
      await using clients = new Clients();
      const { ann, ben, room, bens } = await twoMembers(clients, urls());
      const left = next(bens, 'member:left');
      const hosted = next(bens, 'host:changed');
      const leaving = room.leave();
      expect([room.ending, ann.room, ann.state]).toEqual([{ reason: 'left' }, null, 'online']);
      await leaving;
      expect(await left).toEqual({ member: expect.objectContaining({ userId: ann.userId }), reason: 'left' });
      expect(await hosted).toEqual({ hostId: ben.userId });
      expect(bens.self.role).toBe('host');
      expect(bens.members).toEqual([bens.self]);
      await expect(room.message('late')).rejects.toMatchObject({ code: 'CLOSED', retryable: false });
      await room.leave();
      const again = await ann.join(bens.code);
      expect(again).not.toBe(room);
      expect(again.self.seq).toBe(3);
    });

    test('a kick ends the client and its room, and a ban keeps it out', async () => {
      for (const ban of [false, true]) {
        await using clients = new Clients();
        const { ben, room, bens } = await twoMembers(clients, urls());
        const told = eventsOf(bens);
        const left = next(room, 'member:left');
        const reason = ban ? 'banned' : 'kicked';
        await room.kick(bens.self.userId, { ban });
        await reaches(ben, 'closed');
        expect([ben.ending, bens.ending, told]).toEqual([{ reason }, { reason }, [`ended ${reason}`]]);
        expect((await left).reason).toBe('kicked');
        await expect(ben.join(room.code)).rejects.toMatchObject({ code: 'CLOSED' });
      }
    });

    test('a room that its host closes ends for all; their clients go on', async () => {
      await using clients = new Clients();
      const { ann, ben, room, bens } = await twoMembers(clients, urls());
      const ended = Promise.all([next(room, 'ended'), next(bens, 'ended')]);
      await room.close();
      expect(await ended).toEqual([{ reason: 'closed' }, { reason: 'closed' }]);
      expect([ann.room, ben.room, ann.state, ben.state]).toEqual([null, null, 'online', 'online']);
      expect((await ben.create()).ref).not.toBe(room.ref);
    });

    test('a client that closes leaves its room', async () => {
      await using clients = new Clients();
      const { ben, room, bens } = await twoMembers(clients, urls());
      const left = next(room, 'member:left');
      await ben.close();
      expect((await left).reason).toBe('left');
      expect([ben.state, ben.ending, bens.ending]).toEqual(['closed', { reason: 'closed' }, { reason: 'left' }]);
      await until(room, ({ members }) => members.length === 1);
    });
  });
}
