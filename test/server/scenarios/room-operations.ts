/** What is done to a room by its host over the socket, and by a back end over REST: the members are told the same. */
import { expect } from 'vitest';
import type { PushName } from '../../../src/protocol/events.ts';
import type { UserId } from '../../../src/protocol/ids.ts';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { connectClient, type TestClient } from '../../support/client.ts';
import type { Nodes } from '../../support/nodes.ts';
import { createApiClient } from '../http/api/api-client.ts';
import { hasUserId, joinedPair, welcomeOf } from './members.ts';
import type { Scenario } from './run-scenarios.ts';

interface Operation {
  readonly overSocket: (host: TestClient, target: UserId) => Promise<unknown>;
  readonly overRest: (api: ReturnType<typeof createApiClient>, room: RoomSnapshot, target: UserId) => Promise<unknown>;
  /** The last push of the operation for a member that stays connected. */
  readonly last: PushName;
  /** The last push for the target of the operation. */
  readonly lastOfTarget: PushName;
}

const UPDATE = { name: 'Depot', locked: true, maxUsers: 5, metadata: { track: 3 } };

const kick = (ban: boolean): Operation => ({
  overSocket: (host, userId) => host.must('room:kick', { userId, ban }),
  overRest: (api, { code }, userId) =>
    api.expectStatus(204, 'DELETE', `/rooms/${code}/members/${userId}${ban ? '?ban=true' : ''}`),
  last: 'member:left',
  lastOfTarget: 'session:kicked',
});

const update: Operation = {
  overSocket: (host) => host.must('room:update', UPDATE),
  overRest: (api, { code }) => api.expectStatus(200, 'PATCH', `/rooms/${code}`, UPDATE),
  last: 'room:updated',
  lastOfTarget: 'room:updated',
};

const close: Operation = {
  overSocket: (host) => host.must('room:close'),
  overRest: (api, { code }) => api.expectStatus(204, 'DELETE', `/rooms/${code}`),
  last: 'room:closed',
  lastOfTarget: 'room:closed',
};

/** Performs an operation on a room of three. @returns what each of them was pushed, with names in the place of ids. */
async function pushesOf(nodes: Nodes, operation: Operation, by: 'socket' | 'REST'): Promise<unknown> {
  await using pair = await joinedPair(nodes);
  const { ann, ben, room } = pair;
  await using cat = await connectClient(nodes.url(1));
  await cat.must('room:join', { code: room.code });
  const isCat = ({ member }: { readonly member: { readonly userId: string } }) => hasUserId(cat.userId)(member);
  await Promise.all([ann, ben].map((client) => client.next('member:joined', isCat)));
  const members = [ann, ben, cat];
  const before = members.map(({ heard }) => heard.length);
  if (by === 'socket') await operation.overSocket(ann, ben.userId);
  else await operation.overRest(createApiClient(nodes.url(0)), room, ben.userId);
  await Promise.all([ann.next(operation.last), cat.next(operation.last), ben.next(operation.lastOfTarget)]);
  // Anything more that the members' own nodes had to tell them comes before these replies.
  await Promise.all([ann, cat].map((client) => client.must('heartbeat')));
  // Without the revisions that a tick pushes, which comes when it is its time.
  const pushes = members.map(({ heard }, index) =>
    heard.slice(before[index]).filter(({ name }) => name !== 'room:rev'),
  );
  const names = [
    [ann.userId, '<host>'],
    [ben.userId, '<target>'],
    [cat.userId, '<member>'],
    [room.ref, '<ref>'],
    [room.code, '<code>'],
    [String(room.createdAt), '"<created>"'],
    [String(room.expiresAt), '"<expires>"'],
  ] as const;
  return JSON.parse(names.reduce((text, [id, name]) => text.replaceAll(id, name), JSON.stringify(pushes)));
}

const samePushes =
  (operation: Operation): Scenario =>
  async (nodes) => {
    const [overSocket, overRest] = [
      await pushesOf(nodes, operation, 'socket'),
      await pushesOf(nodes, operation, 'REST'),
    ];
    expect(overRest).toEqual(overSocket);
    const { last, lastOfTarget } = operation;
    expect(overRest).toMatchObject([[{ name: last }], [{ name: lastOfTarget }], [{ name: last }]]);
  };

/** Asks in the very turn in which the end of the room is heard of. */
const onClosed = <Result>(client: TestClient, ask: () => Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    client.socket.once('room:closed', () => ask().then(resolve, reject));
  });

const CLOSERS: readonly ['socket' | 'REST', Operation][] = [
  ['socket', close],
  ['REST', close],
];

export const roomOperations: Readonly<Record<string, Scenario>> = {
  'a kick pushes the same over the socket and over REST': samePushes(kick(false)),
  'a kick with a ban pushes the same over the socket and over REST': samePushes(kick(true)),
  'an update pushes the same over the socket and over REST': samePushes(update),
  'a close pushes the same over the socket and over REST': samePushes(close),

  async 'a member that has the present revision is told only that, and one that has not is told the room'(nodes) {
    await using pair = await joinedPair(nodes);
    const { ann, ben, room } = pair;
    const { ref, rev } = room;
    for (const client of [ann, ben]) expect(await client.must('room:get', { rev })).toEqual({ ok: true, ref, rev });
    expect(await ben.must('room:get')).toEqual({ ok: true, ref, rev, room });
    for (const other of [rev - 1, rev + 1, Number.MAX_SAFE_INTEGER]) {
      expect(await ben.must('room:get', { rev: other })).toEqual({ ok: true, ref, rev, room });
    }
    for (const wrong of [-1, 1.5, '2', null]) expect(await ben.refused('room:get', { rev: wrong })).toBe('BAD_REQUEST');
    const { room: changed } = await ann.must('room:update', { name: 'Depot' });
    // The update is known to the room before its reply: no read on any node that begins later is from before it.
    expect(await ben.must('room:get', { rev })).toEqual({ ok: true, ref, rev: changed.rev, room: changed });
  },

  async 'a member that has lost its seat is told so, whatever revision it names'(nodes) {
    for (const nameRevision of [(rev: number) => rev, (rev: number) => rev - 1, (rev: number) => rev + 1]) {
      await using pair = await joinedPair(nodes);
      const { ann, ben, room } = pair;
      // By the engine alone, so that no node is told.
      const { engine } = nodes.servers[0] ?? expect.unreachable();
      const { userId, session } = welcomeOf(ben);
      const left = await engine.apply({ kind: 'leave', code: room.code, ref: room.ref, userId, session });
      const { rev } = left.ok ? left : expect.unreachable();
      expect(await ben.refused('room:get', { rev: nameRevision(rev) })).toBe('NOT_IN_ROOM');
      const closed = await engine.apply({ kind: 'close', code: room.code, ref: room.ref, owner: true });
      expect(closed.ok).toBe(true);
      expect(await ann.refused('room:get', { rev: nameRevision(rev) })).toBe('CODE_EXPIRED');
    }
  },

  async 'a member that hears of the end of its room has no seat in it, whichever node it is on'(nodes) {
    for (const [by, operation] of CLOSERS) {
      await using pair = await joinedPair(nodes);
      const { ann, ben, room } = pair;
      await using cat = await connectClient(nodes.url(1));
      await cat.must('room:join', { code: room.code });
      const refused = onClosed(ann, () => ann.refused('room:get'));
      const joined = onClosed(ben, () => ben.refused('room:join', { code: room.code, ref: room.ref }));
      const created = onClosed(cat, () => cat.must('room:create'));
      if (by === 'socket') await operation.overSocket(ann, ben.userId);
      else await operation.overRest(createApiClient(nodes.url(0)), room, ben.userId);
      expect([await refused, await joined]).toEqual(['NOT_IN_ROOM', 'CODE_EXPIRED']);
      const { room: own } = await created;
      expect(own.members).toMatchObject([{ userId: cat.userId, role: 'host', seq: 1 }]);
      expect((await cat.must('room:get')).room).toEqual(own);
      await cat.must('room:close');
    }
  },
};
