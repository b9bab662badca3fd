/** Who is host, what only the host may do, and how rooms end by it. */
import { expect } from 'vitest';
import { MAX_BANS } from '../../../src/room/transitions.ts';
import { eventsOf } from '../../room/events-in-words.ts';
import { POLICY } from '../../room/fixtures.ts';
import { example } from './example.ts';

const refused = (reason: string) => ({ ok: false, reason });

export const host = [
  example('a host that leaves hands over to the member that joined first', async (harness) => {
    const room = await harness.room(['zoe', 'mia', 'anna']);
    const left = await harness.leave(room, 'zoe');
    expect(eventsOf(left)).toEqual(['4 member:left zoe left', '5 host:changed mia']);
    expect(left).toMatchObject({ ok: true, rev: 5, evicted: [] });
    expect(await harness.snapshot(room)).toMatchObject({
      hostId: 'mia',
      rev: 5,
      members: [
        { userId: 'mia', role: 'host' },
        { userId: 'anna', role: 'member' },
      ],
    });
  }),
  example('an away member becomes host only when no member is present', async (harness) => {
    const room = await harness.room(['anna', 'bert', 'cora']);
    await harness.suspend(room, 'bert');
    expect(eventsOf(await harness.leave(room, 'anna'))).toEqual(['5 member:left anna left', '6 host:changed cora']);
    expect(eventsOf(await harness.leave(room, 'cora'))).toEqual(['7 member:left cora left', '8 host:changed bert']);
  }),
  example('a member that leaves does not change the host', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    expect(eventsOf(await harness.leave(room, 'bert'))).toEqual(['3 member:left bert left']);
  }),
  example('the first member of an empty room is its host', async (harness) => {
    const room = await harness.room(['anna']);
    expect(eventsOf(await harness.leave(room, 'anna'))).toEqual(['2 member:left anna left', '3 host:changed nobody']);
    expect(await harness.snapshot(room)).toMatchObject({ hostId: null, members: [] });
    const joined = await harness.join(room, 'bert');
    expect(eventsOf(joined)).toEqual(['4 member:joined bert', '5 host:changed bert']);
    expect(joined).toMatchObject({
      room: { hostId: 'bert', rev: 5, members: [{ userId: 'bert', role: 'host', seq: 2 }] },
      events: [{ body: { member: { role: 'member' } } }, { body: { hostId: 'bert' } }],
    });
  }),
  example(
    'by policy the room ends with its host',
    async (harness) => {
      const room = await harness.room(['anna', 'bert', 'cora']);
      expect(eventsOf(await harness.leave(room, 'cora'))).toEqual(['4 member:left cora left']);
      const left = await harness.leave(room, 'anna');
      expect(eventsOf(left)).toEqual(['5 member:left anna left', '6 room:closed host-left']);
      expect(left).toMatchObject({ rev: 6, evicted: [{ userId: 'bert', reason: 'host-left' }] });
      expect(await harness.read(room.code)).toEqual(refused('ROOM_NOT_FOUND'));
      expect(await harness.stats()).toEqual({ ok: true, occupied: 0, cooling: 1, nextFreeInMs: POLICY.cooldownMs });
      harness.clock.advance(POLICY.leaseMs);
      expect(await harness.tick()).toMatchObject({ events: [], evicted: [] });
    },
    { policy: { closeOnHostLeave: true } },
  ),
  example('the host removes a member, and the outcome names the node of its session', async (harness) => {
    const room = await harness.room(['anna']);
    await harness.join(room, 'bert', { session: 7, node: 'node-b' });
    const { code, ref } = room;
    expect(await harness.kick(room, 'anna', 'bert')).toEqual({
      ok: true,
      rev: 3,
      events: [{ name: 'member:left', body: { code, ref, rev: 3, userId: 'bert', reason: 'kicked' } }],
      evicted: [{ code, ref, userId: 'bert', session: 7, nodeId: 'node-b', reason: 'kicked' }],
    });
    expect(await harness.join(room, 'bert', { session: 8 })).toMatchObject({ ok: true });
  }),
  example('only the host can kick, and only another member of the room', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    expect(await harness.kick(room, 'bert', 'anna')).toEqual(refused('FORBIDDEN'));
    expect(await harness.kick(room, 'anna', 'anna')).toEqual(refused('CONFLICT'));
    expect(await harness.kick(room, 'anna', 'dora')).toEqual(refused('PEER_NOT_FOUND'));
  }),
  example('a banned user cannot join, but one whose id contains the banned id can', async (harness) => {
    const room = await harness.room(['anna', 'bert', 'ber']);
    await harness.kick(room, 'anna', 'bert', { ban: true });
    expect(await harness.join(room, 'bert', { session: 9 })).toEqual(refused('BANNED'));
    await harness.leave(room, 'ber');
    expect(await harness.join(room, 'ber')).toMatchObject({ ok: true });
    await harness.kick(room, 'anna', 'ber', { ban: true });
    expect(await harness.join(room, 'ber')).toEqual(refused('BANNED'));
    expect(await harness.join(room, 'bert')).toEqual(refused('BANNED'));
    expect(await harness.join(room, 'rt')).toMatchObject({ ok: true });
  }),
  example('the oldest ban is dropped when there are too many', async (harness) => {
    const room = await harness.room(['anna']);
    for (let index = 0; index <= MAX_BANS; index += 1) {
      await harness.join(room, `guest-${index}`);
      await harness.kick(room, 'anna', `guest-${index}`, { ban: true });
    }
    expect(await harness.join(room, 'guest-1')).toEqual(refused('BANNED'));
    expect(await harness.join(room, `guest-${MAX_BANS}`)).toEqual(refused('BANNED'));
    expect(await harness.join(room, 'guest-0')).toMatchObject({ ok: true });
  }),
  example('the host ends the room for all members', async (harness) => {
    const room = await harness.room(['zoe', 'anna']);
    expect(await harness.close(room, 'anna')).toEqual(refused('FORBIDDEN'));
    const { code, ref } = room;
    const closed = await harness.close(room, 'zoe');
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
    expect(await harness.close(room, 'zoe')).toEqual(refused('CODE_EXPIRED'));
    harness.clock.advance(POLICY.leaseMs);
    expect(await harness.tick()).toMatchObject({ events: [], evicted: [], more: false });
  }),
];
