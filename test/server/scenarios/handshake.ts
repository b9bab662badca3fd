/** The handshake: the welcome, and what is refused. */
import { expect } from 'vitest';
import { limits } from '../../../src/protocol/messages.ts';
import { connectClient, TestClient } from '../../support/client.ts';
import { refusedHandshake, tokenOf, welcomeOf } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

export const handshake: Readonly<Record<string, Scenario>> = {
  async 'the welcome is the first push, and has the limits of the node'(nodes) {
    await using ann = await connectClient(nodes.url(0), { name: 'Ann' });
    expect(ann.heard[0]?.name).toBe('welcome');
    const [server] = nodes.servers;
    expect(welcomeOf(ann)).toMatchObject({
      v: 1,
      room: null,
      nodeId: server?.nodeId,
      heartbeatIntervalMs: server?.options.heartbeatIntervalMs,
      limits: { frameBytes: server?.options.frameBytes, codeDigits: 6, eventsBurst: server?.options.eventsBurst },
    });
    expect(limits.parse(welcomeOf(ann).limits)).toEqual(welcomeOf(ann).limits);
  },

  async 'the welcome is the first push for a member that resumes into a busy room'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    const { room } = await ann.must('room:create');
    await using ben = await connectClient(nodes.url(1));
    await ben.must('room:join', { code: room.code });
    const token = tokenOf(ben);
    ben.socket.disconnect();
    let talking = true;
    const talk = (async () => {
      for (let n = 0; talking; n += 1) await ann.must('message', { data: n });
    })();
    await using again = await connectClient(nodes.url(1), { resume: token });
    await again.next('message');
    talking = false;
    await talk;
    expect(again.heard[0]?.name).toBe('welcome');
  },

  async 'an unknown protocol version is refused before the other fields are read'(nodes) {
    const refused = { code: 'VERSION_UNSUPPORTED', retryable: false };
    expect(await refusedHandshake(nodes.url(0), { v: 2 })).toMatchObject(refused);
    // A later version may send more fields: its client must still learn that the version is the reason.
    expect(await refusedHandshake(nodes.url(0), { v: 2, features: ['lobby'] })).toMatchObject(refused);
  },

  async 'a handshake without a version is of version 1'(nodes) {
    await using ann = new TestClient(nodes.url(0), { v: undefined as never });
    expect(await ann.next('welcome')).toMatchObject({ v: 1 });
  },

  async 'a malformed handshake is refused with BAD_REQUEST'(nodes) {
    const malformed: object[] = [
      { v: 'one' },
      { v: 1.5 },
      { surprise: true },
      { resume: 7 },
      { resume: 'x'.repeat(2049) },
      { name: '' },
      { name: 'x'.repeat(65) },
      { name: 'line\nbreak' },
      { token: {} },
    ];
    const refusals = await Promise.all(malformed.map((auth) => refusedHandshake(nodes.url(0), auth)));
    expect(refusals.map(({ code }) => code)).toEqual(malformed.map(() => 'BAD_REQUEST'));
  },

  async 'a token is refused by a server without an authenticate hook'(nodes) {
    expect(await refusedHandshake(nodes.url(0), { token: 'a.b.c' })).toMatchObject({ code: 'UNAUTHENTICATED' });
  },

  async 'a resume token that is foreign, altered or empty is refused'(nodes) {
    await using ann = await connectClient(nodes.url(0));
    const token = tokenOf(ann);
    const [head, , signature] = token.split('.');
    const body = Buffer.from(JSON.stringify({ sub: 'somebody', aud: 'signalbox:resume', exp: 9_999_999_999 }));
    const forged = `${head}.${body.toString('base64url')}.${signature}`;
    for (const resume of ['', 'nonsense', forged, token.slice(0, -4)]) {
      expect(await refusedHandshake(nodes.url(1), { resume })).toMatchObject({
        code: 'SESSION_EXPIRED',
        retryable: false,
      });
    }
  },

  async 'the name of the handshake is the name of the member'(nodes) {
    await using ann = await connectClient(nodes.url(0), { name: '  Ann 🚂 ' });
    const { room } = await ann.must('room:create');
    expect(room.members).toMatchObject([{ name: 'Ann 🚂', role: 'host', seq: 1, state: 'present' }]);
    await using ben = await connectClient(nodes.url(1), { name: 'Ben' });
    await ben.must('room:join', { code: room.code, profile: { name: 'Benjamin', mediaType: 'audio' } });
    const { member } = await ann.next('member:joined');
    expect(member).toMatchObject({ name: 'Benjamin', mediaType: 'audio', role: 'member', seq: 2 });
  },
};
