/** Resuming a session: after a lost connection, a page refresh, on another node, in a second tab. */
import { expect, vi } from 'vitest';
import { connectClient, TestClient } from '../../support/client.ts';
import { flushPushes, hasUserId, joinedPair, storedRoom, tokenOf, welcomeOf } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

/** Neither a page refresh nor a replaced session is broadcast as a leave. */
const expectNoLeave = (listener: TestClient) => {
  expect(listener.all('member:left')).toEqual([]);
  expect(listener.all('member:joined')).toHaveLength(1);
  expect(listener.all('host:changed')).toEqual([]);
};

export const resume: Readonly<Record<string, Scenario>> = {
  async 'a page refresh keeps user and seat, and the others see away, then back'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await ben.must('profile', { name: 'Ben', metadata: { hand: 'up' } });
    ben.socket.disconnect();
    await using back = await connectClient(nodes.url(1), { resume: tokenOf(ben) });
    const away = await ann.next('member:away', hasUserId(ben.userId));
    const { member, rev } = await ann.next('member:back');
    expect([away.rev, rev]).toEqual([room.rev + 2, room.rev + 3]);
    expect(member).toEqual({ ...room.members[1], name: 'Ben', metadata: { hand: 'up' } });
    const welcome = welcomeOf(back);
    expect(welcome.userId).toBe(ben.userId);
    expect(welcome.session).toBeGreaterThan(welcomeOf(ben).session);
    expect(welcome.room).toEqual(await storedRoom(nodes, room));
    await flushPushes(ann, back);
    expectNoLeave(ann);
    await ann.must('signal', { to: ben.userId, data: 'offer' });
    expect((await back.next('signal')).data).toBe('offer');
    await back.must('signal', { to: ann.userId, data: 'answer' });
    await ann.next('signal');
  },

  async 'a member that resumes on another node keeps its seat'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    ben.cut();
    await ann.next('member:away');
    await using back = await connectClient(nodes.url(0), { resume: tokenOf(ben) });
    expect(welcomeOf(back).room?.members[1]).toEqual(room.members[1]);
    expect((await ann.next('member:back')).member).toEqual(room.members[1]);
    await flushPushes(ann, back);
    expectNoLeave(ann);
  },

  async 'a host that resumes is still the host'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    ann.cut();
    await ben.next('member:away');
    expect(await storedRoom(nodes, room)).toMatchObject({
      hostId: ann.userId,
      members: [{ role: 'host', state: 'away' }, {}],
    });
    await using back = await connectClient(nodes.url(1), { resume: tokenOf(ann) });
    expect((await ben.next('member:back')).member).toMatchObject({ role: 'host', seq: 1 });
    await back.must('room:update', { name: 'Still mine' });
    expect(ben.all('host:changed')).toEqual([]);
  },

  async 'a seat is kept while the room is full or locked'(nodes) {
    await using pair = await joinedPair(nodes, { maxUsers: 2 });
    const { ann, ben, room } = pair;
    await ann.must('room:update', { locked: true });
    ben.cut();
    await ann.next('member:away');
    await using cat = await connectClient(nodes.url(0));
    expect(await cat.refused('room:join', { code: room.code })).toBe('ROOM_LOCKED');
    await ann.must('room:update', { locked: false });
    expect(await cat.refused('room:join', { code: room.code })).toBe('ROOM_FULL');
    await ann.must('room:update', { locked: true });
    await using back = await connectClient(nodes.url(1), { resume: tokenOf(ben) });
    expect(welcomeOf(back).room?.members).toHaveLength(2);
  },

  async 'the end of a replaced connection changes nothing for the new one'(nodes) {
    for (const node of [0, 1]) {
      await using pair = await joinedPair(nodes);
      const { ann, ben, room } = pair;
      await using witness = await connectClient(nodes.url(1));
      await witness.must('room:join', { code: room.code });
      const closed = ben.closed();
      await using back = await connectClient(nodes.url(node), { resume: tokenOf(ben) });
      await closed;
      // The old connection was on the witness' node: whatever its end has asked of the store was asked before this.
      await flushPushes(ann, witness, back);
      expect(ann.all('member:away')).toHaveLength(1);
      expect(ann.all('member:back')).toHaveLength(1);
      expect(ann.all('member:left')).toEqual([]);
      expect((await storedRoom(nodes, room)).members[1]).toEqual(room.members[1]);
      await ann.must('signal', { to: ben.userId, data: 'to the new one' });
      await back.next('signal');
      expect(ben.all('signal')).toEqual([]);
    }
  },

  async 'a second tab replaces the first, which does not come back'(nodes) {
    for (const node of [0, 1]) {
      await using pair = await joinedPair(nodes);
      const { ann, ben } = pair;
      const closed = ben.closed();
      await using tab = await connectClient(nodes.url(node), { resume: tokenOf(ben) });
      await ben.next('session:replaced');
      expect(await closed).toBe('io server disconnect');
      expect(ben.socket.active, 'a Socket.IO client takes this for final').toBe(false);
      expect(ben.heard.at(-1)?.name).toBe('session:replaced');
      await flushPushes(ann, tab);
      expectNoLeave(ann);
    }
  },

  async 'tabs that keep replacing each other end with one seat and one connection'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const resume = tokenOf(ben);
    const tabs = Array.from({ length: 6 }, (_, n) => new TestClient(nodes.url(n), { resume }));
    // One that is replaced before it was welcomed hears only that.
    await Promise.all(tabs.map((tab) => Promise.race([tab.next('welcome'), tab.next('session:replaced')])));
    await vi.waitFor(() => expect(tabs.filter(({ socket }) => socket.connected)).toHaveLength(1), { timeout: 30_000 });
    const last = tabs.find(({ socket }) => socket.connected) ?? expect.unreachable();
    for (const tab of tabs) if (tab !== last) expect(tab.heard.at(-1)?.name).toBe('session:replaced');
    await last.must('signal', { to: ann.userId, data: 'last' });
    await ann.next('signal');
    await flushPushes(ann, last);
    expect(ann.all('member:left')).toEqual([]);
    expect((await storedRoom(nodes, room)).members[1]).toEqual(room.members[1]);
    last.socket.disconnect();
  },

  async 'a user without a seat comes back as the same user'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    ann.socket.disconnect();
    await using back = await connectClient(nodes.url(1), { resume: tokenOf(ann) });
    expect(welcomeOf(back)).toMatchObject({ userId: ann.userId, room: null });
  },

  async 'a member that has left resumes without a seat'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben } = pair;
    await ben.must('room:leave');
    ben.socket.disconnect();
    await using back = await connectClient(nodes.url(1), { resume: tokenOf(ben) });
    expect(welcomeOf(back).room).toBeNull();
    await flushPushes(ann, ann);
    expect(ann.all('member:back')).toEqual([]);
  },

  async 'an idempotency key gives the same room, also after the connection was lost'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    const request = { idempotencyKey: 'try-1', name: 'Once' };
    const { room } = await ann.must('room:create', request);
    expect((await ann.must('room:create', request)).room).toEqual(room);
    ann.cut();
    await using back = await connectClient(nodes.url(1), { resume: tokenOf(ann) });
    const { room: again } = await back.must('room:create', request);
    expect(again).toMatchObject({ code: room.code, ref: room.ref, members: room.members });
    const { room: other } = await back.must('room:create', { ...request, idempotencyKey: 'try-2' });
    expect(other.ref).not.toBe(room.ref);
  },

  async 'an idempotency key sent many times at once creates one room'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => ann.must('room:create', { idempotencyKey: 'x' })),
    );
    expect(new Set(replies.map(({ room }) => room.ref)).size).toBe(1);
    expect(replies.at(-1)?.room.members).toHaveLength(1);
  },

  async 'the same idempotency key of another user creates another room'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    await using ben = await connectClient(nodes.url(1));
    const [one, two] = await Promise.all([ann, ben].map((user) => user.must('room:create', { idempotencyKey: 'k' })));
    expect(one?.room.ref).not.toBe(two?.room.ref);
    expect(two?.room.hostId).toBe(ben.userId);
  },

  async 'an idempotency key whose room has ended is refused'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    await ann.must('room:create', { idempotencyKey: 'over' });
    await ann.must('room:close');
    expect(await ann.refused('room:create', { idempotencyKey: 'over' })).toBe('CODE_EXPIRED');
  },
};

/** With a short grace. */
export const graceExpiry: Readonly<Record<string, Scenario>> = {
  async 'a member that does not resume within the grace leaves once'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    ben.cut();
    const away = await ann.next('member:away', hasUserId(ben.userId));
    const left = await ann.next('member:left', hasUserId(ben.userId));
    expect(left).toMatchObject({ reason: 'lost', rev: away.rev + 1 });
    await using back = await connectClient(nodes.url(1), { resume: tokenOf(ben) });
    expect(welcomeOf(back)).toMatchObject({ userId: ben.userId, room: null });
    expect(await back.refused('room:get')).toBe('NOT_IN_ROOM');
    await back.must('room:join', { code: room.code });
    expect((await ann.next('member:joined')).member.seq).toBe(3);
    expect(ann.all('member:left')).toHaveLength(1);
  },

  async 'a host that does not resume is followed by the longest-present member'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await using cat = await connectClient(nodes.url(0));
    await cat.must('room:join', { code: room.code });
    ann.cut();
    for (const client of [ben, cat]) {
      const left = await client.next('member:left', hasUserId(ann.userId));
      expect(await client.next('host:changed')).toMatchObject({ hostId: ben.userId, rev: left.rev + 1 });
    }
  },
};
