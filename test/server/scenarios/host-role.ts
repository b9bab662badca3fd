/** The rights of the host, and its succession. */
import { expect } from 'vitest';
import { connectClient } from '../../support/client.ts';
import { flushPushes, hasUserId, joinedPair, storedRoom, tokenOf, welcomeOf } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

export const hostRole: Readonly<Record<string, Scenario>> = {
  async 'an update by the host reaches every member'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const change = { name: 'Depot', type: 'lesson', maxUsers: 4, locked: true, metadata: { track: 3 } };
    const { room: changed } = await ann.must('room:update', change);
    expect(changed).toEqual({ ...room, ...change, rev: room.rev + 1 });
    const { members: _, ...info } = changed;
    for (const client of [ann, ben]) expect((await client.next('room:updated')).room).toEqual(info);
    expect((await ben.must('room:get')).room).toEqual(changed);
    await ann.must('room:update', {});
    expect(await storedRoom(nodes, room)).toEqual(changed);
  },

  async 'a member that is not the host may not update, kick or close'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    expect(await ben.refused('room:update', { name: 'Mine' })).toBe('FORBIDDEN');
    expect(await ben.refused('room:kick', { userId: ann.userId })).toBe('FORBIDDEN');
    expect(await ben.refused('room:close')).toBe('FORBIDDEN');
    expect(await storedRoom(nodes, room)).toEqual(room);
  },

  async 'a profile change reaches every member'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await ben.must('profile', { name: 'Benjamin', mediaType: 'screen', metadata: ['hand', 'up'] });
    const { member, rev } = await ann.next('member:updated');
    expect(rev).toBe(room.rev + 1);
    expect(member).toEqual({ ...room.members[1], name: 'Benjamin', mediaType: 'screen', metadata: ['hand', 'up'] });
    expect((await ben.next('member:updated')).member).toEqual(member);
    await ben.must('profile', { mediaType: 'audio' });
    expect((await ann.next('member:updated')).member).toEqual({ ...member, mediaType: 'audio' });
    expect((await storedRoom(nodes, room)).members[1]).toEqual({ ...member, mediaType: 'audio' });
  },

  async 'a locked room keeps its members and refuses others'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await using cat = await connectClient(nodes.url(1));
    await ann.must('room:update', { locked: true });
    expect(await cat.refused('room:join', { code: room.code })).toBe('ROOM_LOCKED');
    await ben.must('room:join', { code: room.code });
    await ann.must('room:update', { locked: false });
    await cat.must('room:join', { code: room.code });
  },

  async 'a kick ends the connection and the seat of its target, on any node'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const token = tokenOf(ben);
    const closed = ben.closed();
    await ann.must('room:kick', { userId: ben.userId });
    for (let n = 0; n < 20; n += 1) await ann.must('message', { data: n });
    expect(await ann.next('member:left', hasUserId(ben.userId))).toMatchObject({ reason: 'kicked', rev: room.rev + 1 });
    expect(await ben.next('session:kicked')).toEqual({ code: room.code, ref: room.ref, banned: false });
    // What Socket.IO clients do not come back from by themselves.
    expect(await closed).toBe('io server disconnect');
    expect(ben.heard.at(-1)?.name).toBe('session:kicked');
    // Nothing is left of the seat: not even for the token, which is good for the user.
    await using back = await connectClient(nodes.url(1), { resume: token });
    expect(back.userId).toBe(ben.userId);
    expect(welcomeOf(back).room).toBeNull();
    expect(await back.refused('room:get')).toBe('NOT_IN_ROOM');
    const { room: again } = await back.must('room:join', { code: room.code });
    expect(again.members.map(({ seq }) => seq)).toEqual([1, 3]);
  },

  async 'a banned user cannot join again'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const token = tokenOf(ben);
    await ann.must('room:kick', { userId: ben.userId, ban: true });
    expect(await ben.next('session:kicked')).toMatchObject({ banned: true });
    await using back = await connectClient(nodes.url(0), { resume: token });
    expect(await back.refused('room:join', { code: room.code })).toBe('BANNED');
    expect(await back.refused('room:join', { code: room.code, ref: room.ref })).toBe('BANNED');
    await flushPushes(ann, ann);
    expect(ann.all('member:joined')).toHaveLength(1);
    await using cat = await connectClient(nodes.url(1));
    await cat.must('room:join', { code: room.code });
  },

  async 'a member that is away can be kicked, and resumes without a seat'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben } = pair;
    const token = tokenOf(ben);
    ben.cut();
    await ann.next('member:away');
    await ann.must('room:kick', { userId: ben.userId });
    await ann.next('member:left');
    await using back = await connectClient(nodes.url(1), { resume: token });
    expect(welcomeOf(back).room).toBeNull();
  },

  async 'a host cannot kick itself or an unknown user'(nodes) {
    await using pair = await joinedPair(nodes);
    expect(await pair.ann.refused('room:kick', { userId: pair.ann.userId })).toBe('CONFLICT');
    expect(await pair.ann.refused('room:kick', { userId: 'nobody' })).toBe('PEER_NOT_FOUND');
  },

  async 'the longest-present member follows a host that leaves'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await using cat = await connectClient(nodes.url(0));
    await cat.must('room:join', { code: room.code });
    await ann.must('room:leave');
    for (const client of [ben, cat]) {
      const left = await client.next('member:left');
      expect(await client.next('host:changed')).toMatchObject({ hostId: ben.userId, rev: left.rev + 1 });
    }
    await ben.must('room:update', { name: 'Ben’s' });
    expect(await storedRoom(nodes, room)).toMatchObject({
      hostId: ben.userId,
      members: [{ role: 'host' }, { role: 'member', userId: cat.userId }],
    });
  },

  async 'a close ends the room and its seats on every node'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await ann.must('room:close');
    for (const client of [ann, ben]) {
      expect(await client.next('room:closed')).toEqual({
        code: room.code,
        ref: room.ref,
        rev: room.rev + 1,
        reason: 'closed',
      });
      expect(await client.refused('message', { data: 1 })).toBe('NOT_IN_ROOM');
      expect(await client.refused('signal', { to: ann.userId, data: 1 })).toBe('NOT_IN_ROOM');
      expect(await client.refused('room:get')).toBe('NOT_IN_ROOM');
      expect(await client.must('heartbeat')).toMatchObject({ rev: null });
      // The code cools down: nobody has it, and whoever comes with the old room's name learns what has become of it.
      expect(await client.refused('room:join', { code: room.code })).toBe('ROOM_NOT_FOUND');
      expect(await client.refused('room:join', { code: room.code, ref: room.ref })).toBe('CODE_EXPIRED');
      await client.must('room:leave');
    }
    expect(ben.socket.connected).toBe(true);
    await ben.must('room:create');
  },

  async 'a member that is away when the room closes resumes without a seat'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben } = pair;
    const token = tokenOf(ben);
    ben.cut();
    await ann.next('member:away');
    await ann.must('room:close');
    await using back = await connectClient(nodes.url(1), { resume: token });
    expect(welcomeOf(back).room).toBeNull();
    expect(back.userId).toBe(ben.userId);
  },
};

/** With `closeOnHostLeave`. */
export const closeOnHostLeave: Readonly<Record<string, Scenario>> = {
  async 'the room ends with its host'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await ann.must('room:leave');
    const left = await ben.next('member:left');
    expect(await ben.next('room:closed')).toMatchObject({ reason: 'host-left', rev: left.rev + 1 });
    expect(await ben.refused('room:get')).toBe('NOT_IN_ROOM');
    expect(await ben.refused('room:join', { code: room.code })).toBe('ROOM_NOT_FOUND');
  },
};
