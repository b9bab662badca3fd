/** The tick: what is renewed, and what is reaped in which order. */
import { expect } from 'vitest';
import { code, key, POLICY, refOf, told } from '../stage.ts';
import { example } from './example.ts';

const { leaseMs, graceMs, idleMs, emptyMs, maxAgeMs, cooldownMs } = POLICY;

export const tick = [
  example('nothing held and nothing due: only figures', async (stage) => {
    expect(await stage.tick()).toEqual({
      ok: true,
      events: [],
      evicted: [],
      lost: [],
      revs: [],
      more: false,
      poolStats: { occupied: 0, cooling: 0, nextFreeInMs: null },
    });
  }),
  example('seats that are held are renewed, others are reaped when their lease is over', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    stage.clock.advance(leaseMs - 1);
    expect(await stage.tick([key(room, 'anna')])).toMatchObject({
      events: [],
      lost: [],
      revs: [{ code: room.code, ref: room.ref, rev: 2 }],
    });
    stage.clock.advance(1);
    const later = await stage.tick([key(room, 'anna')]);
    expect(told(later)).toEqual(['3 member:left bert']);
    expect(later.revs).toEqual([{ code: room.code, ref: room.ref, rev: 3 }]);
    expect(told(await stage.tick([key(room, 'anna')]))).toEqual([]);
    stage.clock.advance(leaseMs - 1);
    expect(told(await stage.tick())).toEqual([]);
  }),
  example('a seat that is held in the very tick in which its lease ends is kept', async (stage) => {
    const room = await stage.room(['anna']);
    stage.clock.advance(leaseMs);
    expect(told(await stage.tick([key(room, 'anna')]))).toEqual([]);
  }),
  example('an away seat is not kept by being held', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    await stage.suspend(room, 'bert');
    stage.clock.advance(graceMs);
    const reaped = await stage.tick([key(room, 'anna'), key(room, 'bert')]);
    expect(reaped.lost).toEqual([]);
    expect(told(reaped)).toEqual(['4 member:left bert']);
  }),
  example('what is held in vain is reported lost', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    await stage.resume(room, 'bert', 2);
    const other = { code: code(2), ref: refOf(77) };
    const held = [
      key(room, 'bert', 1),
      key(room, 'anna'),
      key(room, 'cora'),
      key({ ...room, ref: refOf(77) }, 'anna'),
      key(other, 'anna'),
    ];
    const ticked = await stage.tick(held);
    expect(ticked.lost).toEqual([held[0], held[2], held[3], held[4]]);
    // Of one code under two refs the last one counts.
    expect(ticked.revs).toEqual([]);
    expect((await stage.tick([...held, key(room, 'anna')])).revs).toEqual([{ code: room.code, ref: room.ref, rev: 4 }]);
  }),
  example('revisions are told in the order in which their rooms are held, after the reaping', async (stage) => {
    const [first, second] = [await stage.room(['anna']), await stage.room(['bert', 'cora'])];
    stage.clock.advance(leaseMs);
    const held = [key(second, 'bert'), key(first, 'anna'), key(second, 'bert')];
    expect((await stage.tick(held)).revs).toEqual([
      { code: second.code, ref: second.ref, rev: 3 },
      { code: first.code, ref: first.ref, rev: 1 },
    ]);
  }),
  example('being held does not keep a room from being idle; being asked for something does', async (stage) => {
    const room = await stage.room(['anna']);
    const hold = async (ms: number) => {
      for (let past = 0; past < ms; past += leaseMs / 2) {
        stage.clock.advance(leaseMs / 2);
        const { events } = await stage.tick([key(room, 'anna')]);
        if (events.length > 0) return told({ events });
      }
      return [];
    };
    expect(await hold(idleMs - leaseMs)).toEqual([]);
    await stage.renew(room, 'anna');
    expect(await hold(idleMs - leaseMs / 2)).toEqual([]);
    expect(await hold(leaseMs / 2)).toEqual(['2 room:closed idle']);
    expect(await stage.stats()).toMatchObject({ occupied: 0, cooling: 1 });
  }),
  example('every change by a member keeps its room from being idle', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    const held = ['anna', 'bert', 'cora'].map((userId) => key(room, userId));
    const changes = [
      () => stage.join(room, 'cora'),
      () => stage.join(room, 'cora'),
      () => stage.leave(room, 'cora'),
      () => stage.updateRoom(room, 'anna', { name: 'x' }),
      () => stage.updateSeat(room, 'bert', { name: 'x' }),
      () => stage.kick(room, 'anna', 'bert'),
      () => stage.renew(room, 'anna'),
      () => stage.resume(room, 'anna', 2),
    ];
    for (const change of changes) {
      stage.clock.advance(idleMs - 1);
      expect(told(await stage.tick(held))).toEqual([]);
      expect(await change()).toMatchObject({ ok: true });
    }
    stage.clock.advance(idleMs - 1);
    expect(told(await stage.tick([key(room, 'anna', 2)]))).toEqual([]);
    stage.clock.advance(1);
    expect(told(await stage.tick([key(room, 'anna', 2)]))).toEqual(['10 room:closed idle']);
  }),
  example('a lost connection does not count as activity', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    stage.clock.advance(leaseMs);
    await stage.tick([key(room, 'anna'), key(room, 'bert')]);
    await stage.suspend(room, 'bert');
    stage.clock.advance(idleMs - leaseMs);
    expect(told(await stage.tick([key(room, 'anna')]))).toEqual(['4 member:left bert', '5 room:closed idle']);
  }),
  example('an empty room ends after its time, unless somebody comes', async (stage) => {
    const room = await stage.room(['anna']);
    await stage.leave(room, 'anna');
    stage.clock.advance(emptyMs - 1);
    expect(told(await stage.tick())).toEqual([]);
    await stage.join(room, 'bert');
    stage.clock.advance(emptyMs);
    expect(told(await stage.tick([key(room, 'bert')]))).toEqual([]);
    await stage.leave(room, 'bert');
    stage.clock.advance(emptyMs);
    expect(told(await stage.tick())).toEqual(['8 room:closed empty']);
  }),
  example('a room ends at its greatest age, and everybody is put out', async (stage) => {
    const room = await stage.room(['zoe', 'anna']);
    stage.clock.advance(maxAgeMs - 1);
    const members = [key(room, 'zoe'), key(room, 'anna')];
    await stage.renew(room, 'zoe');
    expect(told(await stage.tick(members))).toEqual([]);
    stage.clock.advance(1);
    const ended = await stage.tick(members);
    expect(told(ended)).toEqual(['3 room:closed aged']);
    expect(ended.evicted).toMatchObject([
      { userId: 'zoe', reason: 'aged' },
      { userId: 'anna', reason: 'aged' },
    ]);
    expect(ended.revs).toEqual([]);
    expect(ended.poolStats).toEqual({ occupied: 0, cooling: 1, nextFreeInMs: cooldownMs });
  }),
  example('leases are reaped by their end, then by code and user', async (stage) => {
    const second = await stage.room(['zoe', 'mia', 'bert'], { candidates: [code(1)] });
    const first = await stage.room(['yves'], { candidates: [code(0)] });
    stage.clock.advance(1);
    await stage.renew(second, 'bert');
    stage.clock.advance(leaseMs);
    const reaped = await stage.tick();
    expect(reaped.evicted.map(({ userId }) => userId)).toEqual(['yves', 'mia', 'zoe', 'bert']);
    expect(told(reaped)).toEqual([
      '2 member:left yves',
      '3 host:changed nobody',
      '4 member:left mia',
      '5 member:left zoe',
      '6 host:changed bert',
      '7 member:left bert',
      '8 host:changed nobody',
    ]);
    expect(await stage.seen(first)).toMatchObject({ members: [], hostId: null });
  }),
  example('no more is reaped in one step than the limit, and what is left is said', async (stage) => {
    const rooms = [await stage.room(['anna', 'bert']), await stage.room(['cora'])];
    stage.clock.advance(leaseMs);
    const reaped = [];
    for (const more of [true, true, false, false]) {
      const ticked = await stage.tick([], 1);
      expect(ticked.more).toBe(more);
      reaped.push(...ticked.evicted.map(({ userId }) => userId));
    }
    expect(reaped).toEqual(['anna', 'bert', 'cora']);
    stage.clock.advance(emptyMs);
    expect(await stage.tick([], 1)).toMatchObject({ more: true, poolStats: { occupied: 1, cooling: 1 } });
    expect(await stage.tick([], 1)).toMatchObject({ more: false, poolStats: { occupied: 0, cooling: 2 } });
    stage.clock.advance(cooldownMs);
    expect(await stage.tick([], 1)).toMatchObject({
      more: true,
      poolStats: { occupied: 0, cooling: 1, nextFreeInMs: 0 },
    });
    expect(await stage.tick([], 1)).toMatchObject({
      more: false,
      poolStats: { occupied: 0, cooling: 0, nextFreeInMs: null },
    });
    expect(await stage.seen(rooms[0] ?? expect.unreachable())).toBe('CODE_EXPIRED');
  }),
  example('rooms end by their deadline, then by code', async (stage) => {
    const third = await stage.room(['anna'], { candidates: [code(2)] });
    stage.clock.advance(1);
    const second = await stage.room(['bert'], { candidates: [code(1)] });
    const first = await stage.room(['cora'], { candidates: [code(0)] });
    await stage.leave(third, 'anna');
    await stage.leave(second, 'bert');
    await stage.leave(first, 'cora');
    stage.clock.advance(1);
    await stage.join(third, 'anna');
    await stage.leave(third, 'anna');
    stage.clock.advance(emptyMs);
    expect((await stage.tick()).events.map(({ body }) => body.code)).toEqual([code(0), code(1), code(2)]);
  }),
  example('a code has cooled at the very end of its time, and not before', async (stage) => {
    await stage.close(await stage.room(['anna'], { candidates: [code(1)] }), 'anna');
    stage.clock.advance(cooldownMs - 1);
    expect((await stage.tick()).poolStats).toEqual({ occupied: 0, cooling: 1, nextFreeInMs: 1 });
    stage.clock.advance(1);
    expect((await stage.tick()).poolStats).toEqual({ occupied: 0, cooling: 0, nextFreeInMs: null });
    expect(await stage.room(['bert'], { candidates: [code(1)] })).toMatchObject({ code: code(1) });
  }),
  example('an empty room’s last member is reaped before the room is', async (stage) => {
    const room = await stage.room(['anna']);
    stage.clock.advance(idleMs);
    expect(told(await stage.tick())).toEqual(['2 member:left anna', '3 host:changed nobody', '4 room:closed idle']);
    expect(await stage.seen(room)).toBe('CODE_EXPIRED');
  }),
  example(
    'a host whose lease is over takes the room with it, by policy',
    async (stage) => {
      await stage.room(['anna', 'bert']);
      stage.clock.advance(leaseMs);
      const reaped = await stage.tick();
      expect(told(reaped)).toEqual(['3 member:left anna', '4 room:closed host-left']);
      expect(reaped.evicted).toMatchObject([
        { userId: 'anna', reason: 'lost' },
        { userId: 'bert', reason: 'host-left' },
      ]);
    },
    { policy: { closeOnHostLeave: true } },
  ),
];
