/** Taking, keeping and giving back a seat. */
import { expect } from 'vitest';
import { NODE, POLICY, told } from '../stage.ts';
import { example } from './example.ts';

const refused = (reason: string) => ({ ok: false, reason });

export const seats = [
  example('who joins is told of to the others', async (stage) => {
    const room = await stage.room(['anna']);
    stage.clock.advance(5);
    const joined = await stage.join(room, 'bert', { profile: { name: 'Bert' } });
    const member = {
      userId: 'bert',
      name: 'Bert',
      role: 'member',
      state: 'present',
      seq: 2,
      joinedAt: stage.clock.now(),
    };
    expect(joined).toEqual({
      ok: true,
      room: { ...room, rev: 2, members: [...room.members, member] },
      events: [{ name: 'member:joined', body: { code: room.code, ref: room.ref, rev: 2, member } }],
    });
  }),
  example('a full room, a locked room and another ref refuse', async (stage) => {
    const room = await stage.room(['anna', 'bert', 'cora']);
    expect(await stage.join(room, 'dora')).toEqual(refused('ROOM_FULL'));
    await stage.leave(room, 'cora');
    await stage.updateRoom(room, 'anna', { locked: true });
    expect(await stage.join(room, 'dora')).toEqual(refused('ROOM_LOCKED'));
    await stage.updateRoom(room, 'anna', { locked: false });
    expect(await stage.join({ ...room, ref: (await stage.room(['eve'])).ref }, 'dora')).toEqual(
      refused('CODE_EXPIRED'),
    );
    expect(await stage.join(room, 'dora')).toMatchObject({ ok: true });
  }),
  example('a room that is full for a moment takes as many as it holds', async (stage) => {
    const room = await stage.room(['anna'], { settings: { maxUsers: 2 } });
    expect(await stage.join(room, 'bert')).toMatchObject({ ok: true });
    expect(await stage.join(room, 'cora')).toEqual(refused('ROOM_FULL'));
  }),
  example('who has a seat comes back to it, even into a full or locked room', async (stage) => {
    const room = await stage.room(['anna', 'bert'], { settings: { maxUsers: 2 } });
    await stage.updateRoom(room, 'anna', { locked: true });
    const back = await stage.join(room, 'bert', { session: 2, profile: { name: 'Other' } });
    expect(told(back)).toEqual(['4 member:away bert', '5 member:back bert']);
    expect(back).toMatchObject({ room: { members: [{}, { userId: 'bert', seq: 2, name: null, state: 'present' }] } });
  }),
  example('the same session joining twice changes nothing for others', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    expect(await stage.join(room, 'bert')).toEqual({ ok: true, room, events: [] });
  }),
  example('an earlier session does not take the seat of a later one', async (stage) => {
    const room = await stage.room(['anna']);
    await stage.join(room, 'bert', { session: 5 });
    expect(await stage.join(room, 'bert', { session: 4 })).toEqual(refused('SESSION_EXPIRED'));
    expect(await stage.resume(room, 'bert', 4)).toEqual(refused('SESSION_EXPIRED'));
  }),
  example('a place in the order of joining is never given twice', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    await stage.leave(room, 'bert');
    expect(await stage.join(room, 'bert')).toMatchObject({ room: { members: [{ seq: 1 }, { seq: 3 }] } });
    await stage.leave(room, 'bert');
    expect(await stage.join(room, 'bert')).toMatchObject({ room: { members: [{ seq: 1 }, { seq: 4 }] } });
  }),
  example('members are told in the order of joining', async (stage) => {
    const room = await stage.room(['zoe', 'anna', 'mia', 'bert'], { settings: { maxUsers: 9 } });
    expect(room.members.map(({ userId }) => userId)).toEqual(['zoe', 'anna', 'mia', 'bert']);
    await stage.leave(room, 'anna');
    expect(await stage.join(room, 'anna')).toMatchObject({
      room: { members: [{ userId: 'zoe' }, { userId: 'mia' }, { userId: 'bert' }, { userId: 'anna' }] },
    });
  }),
  example('leaving frees the seat at once', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    expect(await stage.leave(room, 'bert')).toEqual({
      ok: true,
      rev: 3,
      evicted: [],
      events: [
        { name: 'member:left', body: { code: room.code, ref: room.ref, rev: 3, userId: 'bert', reason: 'left' } },
      ],
    });
    expect(await stage.leave(room, 'bert')).toEqual(refused('NOT_IN_ROOM'));
    expect(await stage.seen(room)).toEqual({ ...room, rev: 3, members: room.members.slice(0, 1) });
  }),
  example('what an earlier session does late changes nothing', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    await stage.resume(room, 'anna', 2);
    const before = await stage.seen(room);
    for (const late of [
      stage.leave(room, 'anna', 1),
      stage.suspend(room, 'anna', 1),
      stage.renew(room, 'anna', 1),
      stage.kick(room, 'anna', 'bert', { session: 1 }),
      stage.close(room, 'anna', 1),
    ]) {
      expect(await late).toEqual(refused('SESSION_EXPIRED'));
    }
    expect(await stage.seen(room)).toEqual(before);
  }),
  example('nor does what a later session than the one that sits does without resuming', async (stage) => {
    const room = await stage.room(['anna']);
    expect(await stage.leave(room, 'anna', 2)).toEqual(refused('SESSION_EXPIRED'));
    expect(await stage.renew(room, 'anna', 2)).toEqual(refused('SESSION_EXPIRED'));
  }),
  example('a lost connection keeps its seat for the grace, and no longer', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    expect(await stage.suspend(room, 'bert')).toEqual({
      ok: true,
      rev: 3,
      evicted: [],
      events: [{ name: 'member:away', body: { code: room.code, ref: room.ref, rev: 3, userId: 'bert' } }],
    });
    stage.clock.advance(10);
    expect(await stage.suspend(room, 'bert')).toEqual({ ok: true, rev: 3, evicted: [], events: [] });
    stage.clock.advance(POLICY.graceMs - 11);
    expect(told(await stage.tick())).toEqual([]);
    stage.clock.advance(1);
    expect(await stage.tick()).toMatchObject({
      events: [{ name: 'member:left', body: { userId: 'bert', reason: 'lost', rev: 4 } }],
      evicted: [{ code: room.code, ref: room.ref, userId: 'bert', session: 1, nodeId: NODE, reason: 'lost' }],
    });
  }),
  example('resuming gives the same seat back, with a new lease', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    await stage.suspend(room, 'anna');
    stage.clock.advance(POLICY.graceMs - 1);
    const back = await stage.resume(room, 'anna', 2);
    expect(told(back)).toEqual(['4 member:back anna']);
    expect(back).toMatchObject({ room: { ...room, rev: 4 } });
    stage.clock.advance(POLICY.leaseMs - 1);
    expect(told(await stage.tick())).toEqual(['5 member:left bert']);
    stage.clock.advance(1);
    expect(await stage.tick()).toMatchObject({ evicted: [{ userId: 'anna', session: 2, nodeId: 'node-b' }] });
  }),
  example('resuming before the loss was noticed reads as away, then back', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    expect(told(await stage.resume(room, 'bert', 2))).toEqual(['3 member:away bert', '4 member:back bert']);
    expect(await stage.resume(room, 'bert', 2)).toMatchObject({ ok: true, events: [], room: { rev: 4 } });
  }),
  example('the session that was suspended may come back itself', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    await stage.suspend(room, 'bert');
    expect(told(await stage.resume(room, 'bert', 1))).toEqual(['4 member:back bert']);
  }),
  example('who has no seat cannot resume one', async (stage) => {
    const room = await stage.room(['anna']);
    expect(await stage.resume(room, 'bert', 1)).toEqual(refused('NOT_IN_ROOM'));
  }),
  example('renewing keeps a present member, not an away one', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    await stage.suspend(room, 'bert');
    stage.clock.advance(POLICY.graceMs - 1);
    expect(await stage.renew(room, 'anna')).toEqual({ ok: true, rev: 3, now: stage.clock.now() });
    expect(await stage.renew(room, 'bert')).toMatchObject({ ok: true });
    stage.clock.advance(1);
    expect(told(await stage.tick())).toEqual(['4 member:left bert']);
    stage.clock.advance(POLICY.leaseMs - 2);
    expect(told(await stage.tick())).toEqual([]);
    stage.clock.advance(1);
    expect(told(await stage.tick())).toEqual(['5 member:left anna', '6 host:changed nobody']);
  }),
];
