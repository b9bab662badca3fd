/** Taking, keeping and giving back a seat. */
import { expect } from 'vitest';
import { eventsOf } from '../../room/events-in-words.ts';
import { POLICY } from '../../room/fixtures.ts';
import { NODE } from '../harness.ts';
import { example } from './example.ts';

const refused = (reason: string) => ({ ok: false, reason });

export const seats = [
  example('a join gives the room to the new member, and an event to the others', async (harness) => {
    const room = await harness.room(['anna']);
    harness.clock.advance(5);
    const joined = await harness.join(room, 'bert', { profile: { name: 'Bert' } });
    const member = {
      userId: 'bert',
      name: 'Bert',
      role: 'member',
      state: 'present',
      seq: 2,
      joinedAt: harness.clock.now(),
    };
    expect(joined).toEqual({
      ok: true,
      room: { ...room, rev: 2, members: [...room.members, member] },
      events: [{ name: 'member:joined', body: { code: room.code, ref: room.ref, rev: 2, member } }],
    });
  }),
  example('a member is found present or away, and nobody else is', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    expect(await harness.find(room, 'bert')).toEqual({ ok: true, state: 'present' });
    await harness.suspend(room, 'bert');
    expect(await harness.find(room, 'bert')).toEqual({ ok: true, state: 'away' });
    await harness.leave(room, 'bert');
    for (const nobody of ['bert', 'cora', '__proto__', 'constructor'])
      expect(await harness.find(room, nobody)).toEqual(refused('NOT_IN_ROOM'));
    const other = await harness.room(['eve']);
    expect(await harness.find({ ...room, ref: other.ref }, 'anna')).toEqual(refused('CODE_EXPIRED'));
    await harness.close(room, 'anna');
    expect(await harness.find(room, 'anna')).toEqual(refused('CODE_EXPIRED'));
  }),
  example('a full room, a locked room and another ref refuse', async (harness) => {
    const room = await harness.room(['anna', 'bert', 'cora']);
    expect(await harness.join(room, 'dora')).toEqual(refused('ROOM_FULL'));
    await harness.leave(room, 'cora');
    await harness.updateRoom(room, 'anna', { locked: true });
    expect(await harness.join(room, 'dora')).toEqual(refused('ROOM_LOCKED'));
    await harness.updateRoom(room, 'anna', { locked: false });
    expect(await harness.join({ ...room, ref: (await harness.room(['eve'])).ref }, 'dora')).toEqual(
      refused('CODE_EXPIRED'),
    );
    expect(await harness.join(room, 'dora')).toMatchObject({ ok: true });
  }),
  example('a room never has more members than maxUsers', async (harness) => {
    const room = await harness.room(['anna'], { settings: { maxUsers: 2 } });
    expect(await harness.join(room, 'bert')).toMatchObject({ ok: true });
    expect(await harness.join(room, 'cora')).toEqual(refused('ROOM_FULL'));
  }),
  example('a member comes back to its seat, even in a full or locked room', async (harness) => {
    const room = await harness.room(['anna', 'bert'], { settings: { maxUsers: 2 } });
    await harness.updateRoom(room, 'anna', { locked: true });
    const back = await harness.join(room, 'bert', { session: 2, profile: { name: 'Other' } });
    expect(eventsOf(back)).toEqual(['4 member:away bert', '5 member:back bert']);
    expect(back).toMatchObject({ room: { members: [{}, { userId: 'bert', seq: 2, name: null, state: 'present' }] } });
  }),
  example('the same session joining twice changes nothing for others', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    expect(await harness.join(room, 'bert')).toEqual({ ok: true, room, events: [] });
  }),
  example('an earlier session does not take the seat of a later one', async (harness) => {
    const room = await harness.room(['anna']);
    await harness.join(room, 'bert', { session: 5 });
    expect(await harness.join(room, 'bert', { session: 4 })).toEqual(refused('SESSION_EXPIRED'));
    expect(await harness.resume(room, 'bert', 4)).toEqual(refused('SESSION_EXPIRED'));
  }),
  example('a place in the order of joining is never given twice', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.leave(room, 'bert');
    expect(await harness.join(room, 'bert')).toMatchObject({ room: { members: [{ seq: 1 }, { seq: 3 }] } });
    await harness.leave(room, 'bert');
    expect(await harness.join(room, 'bert')).toMatchObject({ room: { members: [{ seq: 1 }, { seq: 4 }] } });
  }),
  example('members are listed in the order of joining', async (harness) => {
    const room = await harness.room(['zoe', 'anna', 'mia', 'bert'], { settings: { maxUsers: 9 } });
    expect(room.members.map(({ userId }) => userId)).toEqual(['zoe', 'anna', 'mia', 'bert']);
    await harness.leave(room, 'anna');
    expect(await harness.join(room, 'anna')).toMatchObject({
      room: { members: [{ userId: 'zoe' }, { userId: 'mia' }, { userId: 'bert' }, { userId: 'anna' }] },
    });
  }),
  example('a member that leaves frees its seat at once', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    expect(await harness.leave(room, 'bert')).toEqual({
      ok: true,
      rev: 3,
      evicted: [],
      events: [
        { name: 'member:left', body: { code: room.code, ref: room.ref, rev: 3, userId: 'bert', reason: 'left' } },
      ],
    });
    expect(await harness.leave(room, 'bert')).toEqual(refused('NOT_IN_ROOM'));
    expect(await harness.snapshot(room)).toEqual({ ...room, rev: 3, members: room.members.slice(0, 1) });
  }),
  example('a late command of an earlier session changes nothing', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.resume(room, 'anna', 2);
    const before = await harness.snapshot(room);
    for (const late of [
      harness.leave(room, 'anna', 1),
      harness.suspend(room, 'anna', 1),
      harness.renew(room, 'anna', 1),
      harness.kick(room, 'anna', 'bert', { session: 1 }),
      harness.close(room, 'anna', 1),
    ]) {
      expect(await late).toEqual(refused('SESSION_EXPIRED'));
    }
    expect(await harness.snapshot(room)).toEqual(before);
  }),
  example('a later session must resume before its commands are accepted', async (harness) => {
    const room = await harness.room(['anna']);
    expect(await harness.leave(room, 'anna', 2)).toEqual(refused('SESSION_EXPIRED'));
    expect(await harness.renew(room, 'anna', 2)).toEqual(refused('SESSION_EXPIRED'));
  }),
  example('a lost connection keeps its seat for the grace, and no longer', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    expect(await harness.suspend(room, 'bert')).toEqual({
      ok: true,
      rev: 3,
      evicted: [],
      events: [{ name: 'member:away', body: { code: room.code, ref: room.ref, rev: 3, userId: 'bert' } }],
    });
    harness.clock.advance(10);
    expect(await harness.suspend(room, 'bert')).toEqual({ ok: true, rev: 3, evicted: [], events: [] });
    harness.clock.advance(POLICY.graceMs - 11);
    expect(eventsOf(await harness.tick())).toEqual([]);
    harness.clock.advance(1);
    expect(await harness.tick()).toMatchObject({
      events: [{ name: 'member:left', body: { userId: 'bert', reason: 'lost', rev: 4 } }],
      evicted: [{ code: room.code, ref: room.ref, userId: 'bert', session: 1, nodeId: NODE, reason: 'lost' }],
    });
  }),
  example('resuming gives the same seat back, with a new lease', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.suspend(room, 'anna');
    harness.clock.advance(POLICY.graceMs - 1);
    const back = await harness.resume(room, 'anna', 2);
    expect(eventsOf(back)).toEqual(['4 member:back anna']);
    expect(back).toMatchObject({ room: { ...room, rev: 4 } });
    harness.clock.advance(POLICY.leaseMs - 1);
    expect(eventsOf(await harness.tick())).toEqual(['5 member:left bert lost']);
    harness.clock.advance(1);
    expect(await harness.tick()).toMatchObject({ evicted: [{ userId: 'anna', session: 2, nodeId: 'node-b' }] });
  }),
  example('resuming before the loss was noticed reads as away, then back', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    expect(eventsOf(await harness.resume(room, 'bert', 2))).toEqual(['3 member:away bert', '4 member:back bert']);
    expect(await harness.resume(room, 'bert', 2)).toMatchObject({ ok: true, events: [], room: { rev: 4 } });
  }),
  example('the session that was suspended may come back itself', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.suspend(room, 'bert');
    expect(eventsOf(await harness.resume(room, 'bert', 1))).toEqual(['4 member:back bert']);
  }),
  example('a member that was kicked cannot resume', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.kick(room, 'anna', 'bert');
    expect(await harness.resume(room, 'bert', 2)).toEqual(refused('NOT_IN_ROOM'));
  }),
  example('a user without a seat cannot resume', async (harness) => {
    const room = await harness.room(['anna']);
    expect(await harness.resume(room, 'bert', 1)).toEqual(refused('NOT_IN_ROOM'));
  }),
  example('a renewal extends the lease of a present member, not of an away one', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.suspend(room, 'bert');
    harness.clock.advance(POLICY.graceMs - 1);
    expect(await harness.renew(room, 'anna')).toEqual({ ok: true, rev: 3, now: harness.clock.now() });
    expect(await harness.renew(room, 'bert')).toMatchObject({ ok: true });
    harness.clock.advance(1);
    expect(eventsOf(await harness.tick())).toEqual(['4 member:left bert lost']);
    harness.clock.advance(POLICY.leaseMs - 2);
    expect(eventsOf(await harness.tick())).toEqual([]);
    harness.clock.advance(1);
    expect(eventsOf(await harness.tick())).toEqual(['5 member:left anna lost', '6 host:changed nobody']);
  }),
];
