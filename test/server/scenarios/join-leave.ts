/** Create, join, leave, and switch rooms. */
import { expect } from 'vitest';
import { roomSnapshot } from '../../../src/protocol/snapshot.ts';
import { connectClient } from '../../support/client.ts';
import { flushPushes, hasUserId, joinedPair, storedRoom } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

export const joinLeave: Readonly<Record<string, Scenario>> = {
  async 'the creator and a member that joins by code see the same room'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    await using ben = await connectClient(nodes.url(1));
    const metadata = { topic: ['trains', { number: 4711 }], empty: {} };
    const { room: made, iceServers } = await ann.must('room:create', { name: 'Yard', maxUsers: 3, metadata });
    expect(iceServers).toEqual([]);
    expect(made.code).toMatch(/^[1-9]\d{5}$/);
    expect(made).toMatchObject({ name: 'Yard', maxUsers: 3, metadata, hostId: ann.userId, locked: false });
    const { room: found } = await ben.must('room:join', { code: made.code });
    expect(roomSnapshot.parse(found)).toEqual(found);
    const joined = await ann.next('member:joined');
    expect(joined).toMatchObject({ code: made.code, ref: made.ref, rev: made.rev + 1 });
    expect(found).toEqual({ ...made, rev: joined.rev, members: [...made.members, joined.member] });
    expect((await ann.must('room:get')).room).toEqual(found);
    expect((await ben.must('room:get')).room).toEqual(found);
    expect(await storedRoom(nodes, found)).toEqual(found);
  },

  async 'a code of no room is not found, and one of the wrong length is malformed'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    const { room } = await ann.must('room:create');
    const other = room.code === '123456' ? '123457' : '123456';
    expect(await ann.refused('room:join', { code: other })).toBe('ROOM_NOT_FOUND');
    expect(await ann.refused('room:join', { code: `${room.code}0` })).toBe('BAD_REQUEST');
    expect(await ann.refused('room:join', { code: Number(room.code) })).toBe('BAD_REQUEST');
    expect(await ann.refused('room:join', { code: other, ref: room.ref })).toBe('CODE_EXPIRED');
    expect((await ann.must('room:get')).room).toEqual(room);
  },

  async 'a join of the room that the member is in changes nothing'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    expect((await ben.must('room:join', { code: room.code })).room).toEqual(room);
    expect((await ben.must('room:join', { code: room.code, ref: room.ref })).room).toEqual(room);
    await flushPushes(ann, ben);
    expect(ann.all('member:joined')).toHaveLength(1);
    expect(ann.all('member:away')).toEqual([]);
    await ann.must('message', { data: 'still there' });
    await ben.next('message', ({ data }) => data === 'still there');
  },

  async 'a leave is broadcast once, and granted again when there is no seat'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await ben.must('room:leave');
    const left = await ann.next('member:left');
    expect(left).toMatchObject({ ref: room.ref, rev: room.rev + 1, userId: ben.userId, reason: 'left' });
    await ben.must('room:leave');
    await ben.must('room:leave');
    for (const request of ['room:get', 'room:update', 'room:close', 'profile'] as const) {
      expect(await ben.refused(request)).toBe('NOT_IN_ROOM');
    }
    expect(await ben.refused('message', { data: 1 })).toBe('NOT_IN_ROOM');
    expect(await ben.refused('signal', { to: ann.userId, data: 1 })).toBe('NOT_IN_ROOM');
    await flushPushes(ann, ann);
    expect(ann.all('member:left')).toHaveLength(1);
    expect(ben.all('message')).toEqual([]);
    expect(ben.all('member:left')).toEqual([]);
  },

  async 'a member that leaves and joins again takes a new seat'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await ben.must('room:leave');
    const { room: again } = await ben.must('room:join', { code: room.code });
    expect(again.rev).toBe(room.rev + 2);
    expect(again.members.map(({ seq }) => seq)).toEqual([1, 3]);
    await ann.next('member:left');
    expect((await ann.next('member:joined')).member.seq).toBe(3);
  },

  async 'a member that leaves and joins without waiting for replies misses nothing'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    for (let n = 0; n < 10; n += 1) {
      const { code, ref } = room;
      const asked = [ben.must('room:leave'), ben.ask('heartbeat'), ben.ask('room:get')];
      const { room: again } = await ben.must('room:join', { code, ref });
      await Promise.all(asked);
      expect(again.members.map(({ userId }) => userId)).toEqual([ann.userId, ben.userId]);
      await ann.must('message', { data: n });
      await ben.next('message', ({ data }) => data === n);
      await ann.must('signal', { to: ben.userId, data: n });
      await ben.next('signal', ({ data }) => data === n);
    }
  },

  async 'an empty room stays, and the first member to join is its host'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    await using ben = await connectClient(nodes.url(1));
    const { room } = await ann.must('room:create');
    await ann.must('room:leave');
    expect(await storedRoom(nodes, room)).toMatchObject({ members: [], hostId: null });
    const { room: found } = await ben.must('room:join', { code: room.code });
    expect(found).toMatchObject({ ref: room.ref, hostId: ben.userId, members: [{ userId: ben.userId, role: 'host' }] });
  },

  async 'a member that joins another room leaves the old one'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await using cat = await connectClient(nodes.url(0));
    const { room: other } = await cat.must('room:create');
    await ben.must('room:join', { code: other.code });
    await cat.next('member:joined', ({ member }) => member.userId === ben.userId);
    expect(await ann.next('member:left', hasUserId(ben.userId))).toMatchObject({ ref: room.ref, reason: 'left' });
    expect((await ben.must('room:get')).room.ref).toBe(other.ref);
    await ann.must('message', { data: 'in the old room' });
    await ann.next('message');
    await flushPushes(ben, cat, ben);
    expect(ben.all('message').filter(({ ref }) => ref === room.ref)).toEqual([]);
    expect(await ann.refused('signal', { to: ben.userId, data: 1 })).toBe('PEER_NOT_FOUND');
  },

  async 'a member that creates a room leaves the old one'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben } = pair;
    const { room: own } = await ben.must('room:create');
    await ann.next('member:left', hasUserId(ben.userId));
    expect((await ben.must('room:get')).room).toEqual(own);
  },

  async 'a member whose join of another room is refused keeps its seat'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await using cat = await connectClient(nodes.url(0));
    const { room: locked } = await cat.must('room:create');
    await cat.must('room:update', { locked: true });
    expect(await ben.refused('room:join', { code: locked.code })).toBe('ROOM_LOCKED');
    expect(await ben.refused('room:join', { code: locked.code, ref: room.ref })).toBe('CODE_EXPIRED');
    expect((await ben.must('room:get')).room).toEqual(room);
    await flushPushes(ben, ann);
    await flushPushes(ann, ben);
    expect(ann.all('member:left')).toEqual([]);
    await ann.must('signal', { to: ben.userId, data: 'still here?' });
    await ben.next('signal');
  },

  async 'a full room refuses a join until a seat is free'(nodes) {
    await using pair = await joinedPair(nodes, { maxUsers: 2 });
    const { ann, ben, room } = pair;
    await using cat = await connectClient(nodes.url(1));
    expect(await cat.refused('room:join', { code: room.code })).toBe('ROOM_FULL');
    // Nothing of the room reaches whom it has refused.
    await flushPushes(ann, ann);
    expect(cat.heard.map(({ name }) => name)).toEqual(['welcome']);
    await ben.must('room:leave');
    expect((await cat.must('room:join', { code: room.code })).room.members).toHaveLength(2);
    expect(await ben.refused('room:join', { code: room.code })).toBe('ROOM_FULL');
  },

  async 'members that join at once are announced once each, and never more than maxUsers'(nodes) {
    await using pair = await joinedPair(nodes, { maxUsers: 5 });
    const { ann, ben, room } = pair;
    const guests = await Promise.all(Array.from({ length: 12 }, (_, n) => connectClient(nodes.url(n))));
    const answers = await Promise.all(guests.map((guest) => guest.ask('room:join', { code: room.code })));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(3);
    await flushPushes(ann, ann, ben);
    const joined = ann.all('member:joined').map(({ member }) => member.userId);
    expect(new Set(joined).size).toBe(joined.length);
    expect((await storedRoom(nodes, room)).members.map(({ userId }) => userId).sort()).toEqual(
      [ann.userId, ...joined].sort(),
    );
    for (const guest of guests) guest.socket.disconnect();
  },
};
