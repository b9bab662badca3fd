/** The hooks `onCreate` and `onJoin`: the embedding program can allow, change or refuse. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreateRequest, Hooks, JoinRequest } from '../../../../src/index.ts';
import { connectClient } from '../../../support/client.ts';
import { type Nodes, startNodes, TOPOLOGIES } from '../../../support/nodes.ts';
import { flushPushes, joinedPair, storedRoom, tokenOf } from '../../scenarios/members.ts';

/** The hooks of the current test; the servers are shared by all tests. */
let onCreate: Hooks['onCreate'];
let onJoin: Hooks['onJoin'];
const hooks: Hooks = { onCreate: (request) => onCreate?.(request), onJoin: (request) => onJoin?.(request) };

for (const topology of TOPOLOGIES) {
  describe(`decisions about rooms: ${topology.name}`, () => {
    let nodes: Nodes;
    beforeAll(async () => {
      nodes = await startNodes(topology, { freeMisses: 1_000_000 }, { hooks });
    });
    afterAll(() => nodes[Symbol.asyncDispose]());
    const occupied = async () => (await nodes.servers[0]?.pool())?.occupied;

    test('the hook can allow a create, change its settings, or refuse it before a room exists', async () => {
      const requests: CreateRequest[] = [];
      await using ann = await connectClient(nodes.url(0), { name: 'Ann' });
      const before = await occupied();
      onCreate = (request) => {
        requests.push(request);
        return { refuse: 'You have enough rooms.' };
      };
      const refused = await ann.ask('room:create', { maxUsers: 3, metadata: { a: 1 }, idempotencyKey: 'key' });
      const message = 'You have enough rooms.';
      expect(refused).toEqual({ ok: false, error: { code: 'FORBIDDEN', message, retryable: false } });
      const settings = { type: 'call', maxUsers: 3, access: 'open', metadata: { a: 1 } };
      expect(requests).toEqual([{ userId: ann.userId, name: 'Ann', settings, idempotencyKey: 'key' }]);
      expect(await occupied()).toBe(before);

      onCreate = async () => ({ settings: { type: 'lesson', maxUsers: 5 } });
      const { room } = await ann.must('room:create', { name: 'Yard', maxUsers: 3, profile: { name: 'Anna' } });
      expect(room).toMatchObject({ name: 'Yard', type: 'lesson', maxUsers: 5, members: [{ name: 'Anna' }] });
      onCreate = undefined;
      expect((await ann.must('room:create')).room).toMatchObject({ type: 'call', maxUsers: 8 });
    });

    test('a repeated create that is refused makes no second room and leaves the first one', async () => {
      onCreate = undefined;
      await using ann = await connectClient(nodes.url(0));
      const { room } = await ann.must('room:create', { idempotencyKey: 'once' });
      const before = await occupied();
      onCreate = () => ({ refuse: 'No more.' });
      expect(await ann.refused('room:create', { idempotencyKey: 'once' })).toBe('FORBIDDEN');
      expect(await occupied()).toBe(before);
      expect((await ann.must('room:get')).room.ref).toBe(room.ref);
      onCreate = undefined;
      expect((await ann.must('room:create', { idempotencyKey: 'once' })).room.ref).toBe(room.ref);
    });

    test('a refused join causes no event, neither for the client nor for the members', async () => {
      onJoin = undefined;
      await using pair = await joinedPair(nodes);
      const { ann, ben, room } = pair;
      await using eve = await connectClient(nodes.url(1), { name: 'Eve' });
      const requests: JoinRequest[] = [];
      onJoin = async (request) => {
        requests.push(request);
        return { refuse: 'Members only.' };
      };
      for (const payload of [{ code: room.code }, { code: room.code, ref: room.ref }]) {
        expect(await eve.ask('room:join', payload)).toEqual({
          ok: false,
          error: { code: 'FORBIDDEN', message: 'Members only.', retryable: false },
        });
      }
      await flushPushes(ben, ann);
      expect(eve.heard.map(({ name }) => name)).toEqual(['welcome']);
      expect(ann.all('member:joined')).toHaveLength(1);
      expect(await storedRoom(nodes, room)).toMatchObject({ rev: room.rev });
      expect(requests[0]).toEqual({ userId: eve.userId, name: 'Eve', room: await storedRoom(nodes, room) });
      // The hook is not called for a room that does not exist.
      expect(await eve.refused('room:join', { code: room.code.replace(/.$/, (d) => `${9 - Number(d)}`) })).toBe(
        'ROOM_NOT_FOUND',
      );
      expect(requests).toHaveLength(2);
    });

    test('a hook receives a copy of the room', async () => {
      onJoin = ({ room }) => {
        for (const member of room.members) member.name = 'changed';
        room.members.length = 0;
        Object.assign(room, { code: '100000', ref: 'ROM202600000000000' });
      };
      await using pair = await joinedPair(nodes, { profile: { name: 'Ann' } });
      expect((await storedRoom(nodes, pair.room)).members).toMatchObject([{ name: 'Ann' }, { name: null }]);
    });

    test('the hook is not called again for a member that has a seat', async () => {
      onJoin = undefined;
      await using pair = await joinedPair(nodes);
      const { ben, room } = pair;
      onJoin = () => ({ refuse: 'No more joins.' });
      await ben.must('room:join', { code: room.code });
      await ben.must('room:join', { code: room.code, ref: room.ref });
      await using back = await connectClient(nodes.url(0), { resume: tokenOf(ben) });
      expect((await back.must('room:get')).room.ref).toBe(room.ref);
      // After a leave, a join calls the hook again.
      await back.must('room:leave');
      expect(await back.refused('room:join', { code: room.code })).toBe('FORBIDDEN');
    });

    test.each([
      [
        'throws',
        (): never => {
          throw new Error('on purpose');
        },
      ],
      ['rejects', async (): Promise<never> => Promise.reject(new Error('on purpose'))],
      ['returns false', () => false as unknown as undefined],
      ['returns invalid settings', () => ({ settings: { maxUsers: 1_000_000 } })],
      ['misspells its refusal', () => ({ refused: 'no' }) as unknown as undefined],
    ])('a request is refused with INTERNAL when the hook %s', async (_, hook) => {
      onCreate = onJoin = undefined;
      await using pair = await joinedPair(nodes);
      await using eve = await connectClient(nodes.url(1));
      const before = await occupied();
      onCreate = hook;
      // The answer has the type of onCreate, which onJoin refuses.
      onJoin = hook as Hooks['onJoin'];
      for (const answer of [await eve.ask('room:create'), await eve.ask('room:join', { code: pair.room.code })]) {
        expect(answer).toMatchObject({
          ok: false,
          error: { code: 'INTERNAL', message: expect.stringMatching(/logged as/) },
        });
      }
      expect(await occupied()).toBe(before);
      expect((await storedRoom(nodes, pair.room)).rev).toBe(pair.room.rev);
    });

    test('a hook may call its own server', async () => {
      onCreate = onJoin = undefined;
      const server = nodes.servers[0] ?? expect.unreachable();
      onCreate = async () => {
        await server.pool();
        await (await fetch(`${nodes.url(0)}/readyz`)).json();
      };
      onJoin = async ({ room }) => {
        const again = await server.engine.apply({ kind: 'read', code: room.code, ref: room.ref });
        return again.ok ? undefined : { refuse: 'The room is gone.' };
      };
      await using pair = await joinedPair(nodes);
      expect(pair.room.members).toHaveLength(2);
    });
  });
}
