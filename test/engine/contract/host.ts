/** Who is host, what only the host may do, and how rooms end by it. */
import { expect } from 'vitest';
import { MAX_BANS } from '../../../src/room/transitions.ts';
import { POLICY, told } from '../stage.ts';
import { example } from './example.ts';

const refused = (reason: string) => ({ ok: false, reason });

export const host = [
  example('a host that leaves hands over to the member that has been there longest', async (stage) => {
    const room = await stage.room(['zoe', 'mia', 'anna']);
    const left = await stage.leave(room, 'zoe');
    expect(told(left)).toEqual(['4 member:left zoe', '5 host:changed mia']);
    expect(left).toMatchObject({ ok: true, rev: 5, evicted: [] });
    expect(await stage.seen(room)).toMatchObject({
      hostId: 'mia',
      rev: 5,
      members: [
        { userId: 'mia', role: 'host' },
        { userId: 'anna', role: 'member' },
      ],
    });
  }),
  example('an away member inherits only when nobody is present', async (stage) => {
    const room = await stage.room(['anna', 'bert', 'cora']);
    await stage.suspend(room, 'bert');
    expect(told(await stage.leave(room, 'anna'))).toEqual(['5 member:left anna', '6 host:changed cora']);
    expect(told(await stage.leave(room, 'cora'))).toEqual(['7 member:left cora', '8 host:changed bert']);
  }),
  example('a guest that leaves changes no host', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    expect(told(await stage.leave(room, 'bert'))).toEqual(['3 member:left bert']);
  }),
  example('the first into an empty room is its host', async (stage) => {
    const room = await stage.room(['anna']);
    expect(told(await stage.leave(room, 'anna'))).toEqual(['2 member:left anna', '3 host:changed nobody']);
    expect(await stage.seen(room)).toMatchObject({ hostId: null, members: [] });
    const joined = await stage.join(room, 'bert');
    expect(told(joined)).toEqual(['4 member:joined bert', '5 host:changed bert']);
    expect(joined).toMatchObject({
      room: { hostId: 'bert', rev: 5, members: [{ userId: 'bert', role: 'host', seq: 2 }] },
      events: [{ body: { member: { role: 'member' } } }, { body: { hostId: 'bert' } }],
    });
  }),
  example(
    'by policy the room ends with its host',
    async (stage) => {
      const room = await stage.room(['anna', 'bert', 'cora']);
      expect(told(await stage.leave(room, 'cora'))).toEqual(['4 member:left cora']);
      const left = await stage.leave(room, 'anna');
      expect(told(left)).toEqual(['5 member:left anna', '6 room:closed host-left']);
      expect(left).toMatchObject({ rev: 6, evicted: [{ userId: 'bert', reason: 'host-left' }] });
      expect(await stage.read(room.code)).toEqual(refused('ROOM_NOT_FOUND'));
      expect(await stage.stats()).toEqual({ ok: true, occupied: 0, cooling: 1, nextFreeInMs: POLICY.cooldownMs });
      stage.clock.advance(POLICY.leaseMs);
      expect(await stage.tick()).toMatchObject({ events: [], evicted: [] });
    },
    { policy: { closeOnHostLeave: true } },
  ),
  example('the host takes a seat away, and its holder’s node can be told', async (stage) => {
    const room = await stage.room(['anna']);
    await stage.join(room, 'bert', { session: 7, node: 'node-b' });
    const { code, ref } = room;
    expect(await stage.kick(room, 'anna', 'bert')).toEqual({
      ok: true,
      rev: 3,
      events: [{ name: 'member:left', body: { code, ref, rev: 3, userId: 'bert', reason: 'kicked' } }],
      evicted: [{ code, ref, userId: 'bert', session: 7, nodeId: 'node-b', reason: 'kicked' }],
    });
    expect(await stage.join(room, 'bert', { session: 8 })).toMatchObject({ ok: true });
  }),
  example('only the host kicks, another one, who is there', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    expect(await stage.kick(room, 'bert', 'anna')).toEqual(refused('FORBIDDEN'));
    expect(await stage.kick(room, 'anna', 'anna')).toEqual(refused('CONFLICT'));
    expect(await stage.kick(room, 'anna', 'dora')).toEqual(refused('PEER_NOT_FOUND'));
  }),
  example('who is banned stays out, and nobody with a name like it', async (stage) => {
    const room = await stage.room(['anna', 'bert', 'ber']);
    await stage.kick(room, 'anna', 'bert', { ban: true });
    expect(await stage.join(room, 'bert', { session: 9 })).toEqual(refused('BANNED'));
    await stage.leave(room, 'ber');
    expect(await stage.join(room, 'ber')).toMatchObject({ ok: true });
    await stage.kick(room, 'anna', 'ber', { ban: true });
    expect(await stage.join(room, 'ber')).toEqual(refused('BANNED'));
    expect(await stage.join(room, 'bert')).toEqual(refused('BANNED'));
    expect(await stage.join(room, 'rt')).toMatchObject({ ok: true });
  }),
  example('the oldest ban is forgotten when there are too many', async (stage) => {
    const room = await stage.room(['anna']);
    for (let index = 0; index <= MAX_BANS; index += 1) {
      await stage.join(room, `guest-${index}`);
      await stage.kick(room, 'anna', `guest-${index}`, { ban: true });
    }
    expect(await stage.join(room, 'guest-1')).toEqual(refused('BANNED'));
    expect(await stage.join(room, `guest-${MAX_BANS}`)).toEqual(refused('BANNED'));
    expect(await stage.join(room, 'guest-0')).toMatchObject({ ok: true });
  }),
  example('the host closes the room for everybody', async (stage) => {
    const room = await stage.room(['zoe', 'anna']);
    expect(await stage.close(room, 'anna')).toEqual(refused('FORBIDDEN'));
    const { code, ref } = room;
    const closed = await stage.close(room, 'zoe');
    expect(closed).toEqual({
      ok: true,
      rev: 3,
      events: [{ name: 'room:closed', body: { code, ref, rev: 3, reason: 'closed' }, leaving: ['zoe', 'anna'] }],
      evicted: ['zoe', 'anna'].map((userId) => ({
        code,
        ref,
        userId,
        session: 1,
        nodeId: 'node-a',
        reason: 'closed',
      })),
    });
    expect(await stage.close(room, 'zoe')).toEqual(refused('CODE_EXPIRED'));
    stage.clock.advance(POLICY.leaseMs);
    expect(await stage.tick()).toMatchObject({ events: [], evicted: [], more: false });
  }),
];
