/** The relay of signals and messages between members, and never out of their room. */
import { expect, vi } from 'vitest';
import { connectClient, type TestClient } from '../../support/client.ts';
import { flushPushes, joinedPair, tokenOf } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

const CANDIDATES = 200;
const numbers = Array.from({ length: CANDIDATES }, (_, n) => n);

/** Sends all of them at once, as browsers do while they gather candidates. */
const sendAll = (from: TestClient, to: TestClient) =>
  Promise.all(numbers.map((n) => from.must('signal', { to: to.userId, data: { candidate: n } })));

const candidatesOf = (client: TestClient) =>
  client.all('signal').map(({ data }) => (data as { candidate: number }).candidate);

const heardAll = (client: TestClient) =>
  client.next('signal', ({ data }) => (data as { candidate: number }).candidate === CANDIDATES - 1);

export const signaling: Readonly<Record<string, Scenario>> = {
  async 'signals of any JSON go both ways and name their sender'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const offer = { type: 'offer', sdp: 'v=0\r\n…🚂', nested: [[{ a: null }], 1.5, false, ''], from: 'somebody else' };
    await ann.must('signal', { to: ben.userId, data: offer });
    expect(await ben.next('signal')).toEqual({ from: ann.userId, data: offer, ref: room.ref });
    for (const data of [null, 0, '', [], {}, false]) {
      await ben.must('signal', { to: ann.userId, data });
      expect(await ann.next('signal')).toEqual({ from: ben.userId, data, ref: room.ref });
    }
    expect(await ann.refused('signal', { to: ben.userId, data: 1, from: ben.userId })).toBe('BAD_REQUEST');
  },

  async 'numbered candidates arrive once and in order'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben } = pair;
    await sendAll(ann, ben);
    await heardAll(ben);
    await flushPushes(ben, ann);
    expect(candidatesOf(ben)).toEqual(numbers);
  },

  async 'numbered candidates arrive once and in order, both ways at once'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben } = pair;
    await Promise.all([sendAll(ann, ben), sendAll(ben, ann)]);
    await Promise.all([heardAll(ann), heardAll(ben)]);
    await flushPushes(ben, ann, ben);
    expect(candidatesOf(ben)).toEqual(numbers);
    expect(candidatesOf(ann)).toEqual(numbers);
  },

  async 'the first signal of a new member comes after its member:joined'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, room } = pair;
    await using cat = await connectClient(nodes.url(1));
    await cat.must('room:join', { code: room.code });
    await cat.must('signal', { to: ann.userId, data: 'offer' });
    await ann.next('signal');
    const names = ann.heard.map(({ name }) => name);
    expect(names.lastIndexOf('member:joined')).toBeLessThan(names.indexOf('signal'));
  },

  async 'a signal to an unknown user is refused'(nodes) {
    await using pair = await joinedPair(nodes);
    expect(await pair.ann.refused('signal', { to: 'nobody', data: 1 })).toBe('PEER_NOT_FOUND');
    expect(await pair.ann.refused('signal', { to: 'not an id', data: 1 })).toBe('BAD_REQUEST');
  },

  async 'a signal never leaves its room'(nodes) {
    await using pair = await joinedPair(nodes);
    await using other = await joinedPair(nodes);
    const { ann, ben } = pair;
    for (const stranger of [other.ann, other.ben]) {
      expect(await ann.refused('signal', { to: stranger.userId, data: 'psst' })).toBe('PEER_NOT_FOUND');
      expect(await ben.refused('signal', { to: stranger.userId, data: 'psst' })).toBe('PEER_NOT_FOUND');
    }
    await ann.must('message', { data: 'not for strangers' });
    await ben.next('message');
    await flushPushes(other.ann, other.ann, other.ben);
    await flushPushes(other.ben, other.ann, other.ben);
    const heard = [...other.ann.heard, ...other.ben.heard].filter(({ body }) => 'ref' in body);
    expect(heard.filter(({ body }) => 'ref' in body && body.ref !== other.room.ref)).toEqual([]);
    expect([...other.ann.all('signal'), ...other.ben.all('signal')]).toEqual([]);
  },

  async 'a signal to a member that is away is refused, and is not delivered later'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben } = pair;
    const resume = tokenOf(ben);
    ben.cut();
    await ann.next('member:away');
    // The node that held the connection may not have told Redis yet that nobody listens any more.
    await vi.waitFor(async () => {
      const answer = await ann.ask('signal', { to: ben.userId, data: 'stale' });
      expect(answer).toMatchObject({ ok: false, error: { code: 'PEER_AWAY', retryable: true } });
    });
    await using back = await connectClient(nodes.url(0), { resume });
    await ann.next('member:back');
    await ann.must('signal', { to: ben.userId, data: 'fresh' });
    await back.next('signal');
    expect(back.all('signal').map(({ data }) => data)).toEqual(['fresh']);
  },

  async 'a message reaches every member of the room, its sender too'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    await using cat = await connectClient(nodes.url(0));
    await cat.must('room:join', { code: room.code });
    const data = { text: 'Hello', from: 'nobody' };
    await ben.must('message', { data });
    for (const client of [ann, ben, cat]) {
      expect(await client.next('message')).toEqual({ from: ben.userId, data, ref: room.ref });
    }
    await flushPushes(ann, ben);
    expect(ann.all('message'), 'the message and that of the barrier').toHaveLength(2);
  },

  async 'a payload that is too large is refused, and the connection stays open'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben } = pair;
    expect(await ann.refused('message', { data: 'x'.repeat(4 * 1024) })).toBe('PAYLOAD_TOO_LARGE');
    expect(await ann.refused('signal', { to: ben.userId, data: 'x'.repeat(64 * 1024) })).toBe('PAYLOAD_TOO_LARGE');
    const most = 'x'.repeat(64 * 1024 - 2);
    await ann.must('signal', { to: ben.userId, data: most });
    expect((await ben.next('signal')).data).toBe(most);
  },

  async 'a request without an acknowledgement is carried out'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    ben.socket.emit('signal', { to: ann.userId, data: 'quietly' });
    await ann.next('signal');
    ben.socket.emit('message', { data: 'quietly' });
    await ann.next('message');
    ben.socket.emit('profile', { name: 'Quiet' });
    expect((await ann.next('member:updated')).member.name).toBe('Quiet');
    for (const name of ['signal', 'message', 'room:kick', 'room:join', 'nonsense']) ben.socket.emit(name);
    ben.socket.emit('room:leave');
    await ann.next('member:left');
    ben.socket.emit('room:join', { code: room.code });
    await ann.next('member:joined');
    expect(ben.socket.connected).toBe(true);
  },

  async 'ICE servers are given with the time for which they are valid'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    expect(await ann.must('ice')).toEqual({ ok: true, iceServers: [], ttlMs: expect.any(Number) });
  },
};
