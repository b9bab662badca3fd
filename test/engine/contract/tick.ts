/** The tick: what is renewed, and what is reaped in which order. */
import { expect } from 'vitest';
import { eventsOf } from '../../room/events-in-words.ts';
import { POLICY, refOf, seatKey } from '../../room/fixtures.ts';
import { nthCode } from '../harness.ts';
import { example } from './example.ts';

const { leaseMs, graceMs, idleMs, emptyMs, maxAgeMs, cooldownMs } = POLICY;

export const tick = [
  example('a tick with nothing held and nothing due gives only the pool statistics', async (harness) => {
    expect(await harness.tick()).toEqual({
      ok: true,
      events: [],
      evicted: [],
      lost: [],
      epoch: expect.any(Number),
      recoveringMs: 0,
      infos: [],
      revs: [],
      more: false,
      poolStats: { occupied: 0, cooling: 0, nextFreeInMs: null },
    });
  }),
  example('a tick renews held seats, and reaps others whose lease has expired', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    harness.clock.advance(leaseMs - 1);
    expect(await harness.tick([seatKey(room, 'anna')])).toMatchObject({
      events: [],
      lost: [],
      revs: [{ code: room.code, ref: room.ref, rev: 2, seats: 2 }],
    });
    harness.clock.advance(1);
    const later = await harness.tick([seatKey(room, 'anna')]);
    expect(eventsOf(later)).toEqual(['3 member:left bert lost']);
    expect(later.revs).toEqual([{ code: room.code, ref: room.ref, rev: 3, seats: 1 }]);
    expect(eventsOf(await harness.tick([seatKey(room, 'anna')]))).toEqual([]);
    harness.clock.advance(leaseMs - 1);
    expect(eventsOf(await harness.tick())).toEqual([]);
  }),
  example('a seat that is held in the tick in which its lease expires is kept', async (harness) => {
    const room = await harness.room(['anna']);
    harness.clock.advance(leaseMs);
    expect(eventsOf(await harness.tick([seatKey(room, 'anna')]))).toEqual([]);
  }),
  example('holding does not renew an away seat', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.suspend(room, 'bert');
    harness.clock.advance(graceMs);
    const reaped = await harness.tick([seatKey(room, 'anna'), seatKey(room, 'bert')]);
    expect(reaped.lost).toEqual([]);
    expect(eventsOf(reaped)).toEqual(['4 member:left bert lost']);
  }),
  example('a held key whose session has no seat any more is reported as lost', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    await harness.resume(room, 'bert', 2);
    const other = { code: nthCode(2), ref: refOf(77) };
    const held = [
      seatKey(room, 'bert', 1),
      seatKey(room, 'anna'),
      seatKey(room, 'cora'),
      seatKey({ ...room, ref: refOf(77) }, 'anna'),
      seatKey(other, 'anna'),
    ];
    const ticked = await harness.tick(held);
    expect(ticked.lost).toEqual([held[0], held[2], held[3], held[4]]);
    // Of one code under two refs the last one counts.
    expect(ticked.revs).toEqual([]);
    expect((await harness.tick([...held, seatKey(room, 'anna')])).revs).toEqual([
      { code: room.code, ref: room.ref, rev: 4, seats: 2 },
    ]);
  }),
  example('the revisions are those after the reaping, in the order of the held rooms', async (harness) => {
    const [first, second] = [await harness.room(['anna']), await harness.room(['bert', 'cora'])];
    harness.clock.advance(leaseMs);
    const held = [seatKey(second, 'bert'), seatKey(first, 'anna'), seatKey(second, 'bert')];
    expect((await harness.tick(held)).revs).toEqual([
      { code: second.code, ref: second.ref, rev: 3, seats: 1 },
      { code: first.code, ref: first.ref, rev: 1, seats: 1 },
    ]);
  }),
  example('a room whose seats are only held becomes idle; a renewal prevents that', async (harness) => {
    const room = await harness.room(['anna']);
    const hold = async (ms: number) => {
      for (let past = 0; past < ms; past += leaseMs / 2) {
        harness.clock.advance(leaseMs / 2);
        const { events } = await harness.tick([seatKey(room, 'anna')]);
        if (events.length > 0) return eventsOf({ events });
      }
      return [];
    };
    expect(await hold(idleMs - leaseMs)).toEqual([]);
    await harness.renew(room, 'anna');
    expect(await hold(idleMs - leaseMs / 2)).toEqual([]);
    expect(await hold(leaseMs / 2)).toEqual(['2 room:closed idle']);
    expect(await harness.stats()).toMatchObject({ occupied: 0, cooling: 1 });
  }),
  example('every change by a member counts as activity of its room', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    const held = ['anna', 'bert', 'cora'].map((userId) => seatKey(room, userId));
    const changes = [
      () => harness.join(room, 'cora'),
      () => harness.join(room, 'cora'),
      () => harness.leave(room, 'cora'),
      () => harness.updateRoom(room, 'anna', { name: 'x' }),
      () => harness.updateSeat(room, 'bert', { name: 'x' }),
      () => harness.kick(room, 'anna', 'bert'),
      () => harness.renew(room, 'anna'),
      () => harness.resume(room, 'anna', 2),
    ];
    for (const change of changes) {
      harness.clock.advance(idleMs - 1);
      expect(eventsOf(await harness.tick(held))).toEqual([]);
      expect(await change()).toMatchObject({ ok: true });
    }
    harness.clock.advance(idleMs - 1);
    expect(eventsOf(await harness.tick([seatKey(room, 'anna', 2)]))).toEqual([]);
    harness.clock.advance(1);
    expect(eventsOf(await harness.tick([seatKey(room, 'anna', 2)]))).toEqual(['10 room:closed idle']);
  }),
  example('a lost connection is no activity', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    harness.clock.advance(leaseMs);
    await harness.tick([seatKey(room, 'anna'), seatKey(room, 'bert')]);
    await harness.suspend(room, 'bert');
    harness.clock.advance(idleMs - leaseMs);
    expect(eventsOf(await harness.tick([seatKey(room, 'anna')]))).toEqual([
      '4 member:left bert lost',
      '5 room:closed idle',
    ]);
  }),
  example('an empty room ends after its time, unless a user joins', async (harness) => {
    const room = await harness.room(['anna']);
    await harness.leave(room, 'anna');
    harness.clock.advance(emptyMs - 1);
    expect(eventsOf(await harness.tick())).toEqual([]);
    await harness.join(room, 'bert');
    harness.clock.advance(emptyMs);
    expect(eventsOf(await harness.tick([seatKey(room, 'bert')]))).toEqual([]);
    await harness.leave(room, 'bert');
    harness.clock.advance(emptyMs);
    expect(eventsOf(await harness.tick())).toEqual(['8 room:closed empty']);
  }),
  example('a room ends at its maximum age, and all its sessions are evicted', async (harness) => {
    const room = await harness.room(['zoe', 'anna']);
    harness.clock.advance(maxAgeMs - 1);
    const members = [seatKey(room, 'zoe'), seatKey(room, 'anna')];
    await harness.renew(room, 'zoe');
    expect(eventsOf(await harness.tick(members))).toEqual([]);
    harness.clock.advance(1);
    const ended = await harness.tick(members);
    expect(eventsOf(ended)).toEqual(['3 room:closed aged']);
    expect(ended.evicted).toMatchObject([
      { userId: 'zoe', reason: 'aged' },
      { userId: 'anna', reason: 'aged' },
    ]);
    expect(ended.revs).toEqual([]);
    expect(ended.poolStats).toEqual({ occupied: 0, cooling: 1, nextFreeInMs: cooldownMs });
  }),
  example('leases are reaped in the order of their end, then by code and user', async (harness) => {
    const second = await harness.room(['zoe', 'mia', 'bert'], { candidates: [nthCode(1)] });
    const first = await harness.room(['yves'], { candidates: [nthCode(0)] });
    harness.clock.advance(1);
    await harness.renew(second, 'bert');
    harness.clock.advance(leaseMs);
    const reaped = await harness.tick();
    expect(reaped.evicted.map(({ userId }) => userId)).toEqual(['yves', 'mia', 'zoe', 'bert']);
    expect(eventsOf(reaped)).toEqual([
      '2 member:left yves lost',
      '3 host:changed nobody',
      '4 member:left mia lost',
      '5 member:left zoe lost',
      '6 host:changed bert',
      '7 member:left bert lost',
      '8 host:changed nobody',
    ]);
    expect(await harness.snapshot(first)).toMatchObject({ members: [], hostId: null });
  }),
  example('one step reaps no more than the limit, and says that more is due', async (harness) => {
    const rooms = [await harness.room(['anna', 'bert']), await harness.room(['cora'])];
    harness.clock.advance(leaseMs);
    const reaped = [];
    for (const more of [true, true, false, false]) {
      const ticked = await harness.tick([], 1);
      expect(ticked.more).toBe(more);
      reaped.push(...ticked.evicted.map(({ userId }) => userId));
    }
    expect(reaped).toEqual(['anna', 'bert', 'cora']);
    harness.clock.advance(emptyMs);
    expect(await harness.tick([], 1)).toMatchObject({ more: true, poolStats: { occupied: 1, cooling: 1 } });
    expect(await harness.tick([], 1)).toMatchObject({ more: false, poolStats: { occupied: 0, cooling: 2 } });
    harness.clock.advance(cooldownMs);
    expect(await harness.tick([], 1)).toMatchObject({
      more: true,
      poolStats: { occupied: 0, cooling: 1, nextFreeInMs: 0 },
    });
    expect(await harness.tick([], 1)).toMatchObject({
      more: false,
      poolStats: { occupied: 0, cooling: 0, nextFreeInMs: null },
    });
    expect(await harness.snapshot(rooms[0] ?? expect.unreachable())).toBe('CODE_EXPIRED');
  }),
  example('rooms end in the order of their deadlines, then by code', async (harness) => {
    const third = await harness.room(['anna'], { candidates: [nthCode(2)] });
    harness.clock.advance(1);
    const second = await harness.room(['bert'], { candidates: [nthCode(1)] });
    const first = await harness.room(['cora'], { candidates: [nthCode(0)] });
    await harness.leave(third, 'anna');
    await harness.leave(second, 'bert');
    await harness.leave(first, 'cora');
    harness.clock.advance(1);
    await harness.join(third, 'anna');
    await harness.leave(third, 'anna');
    harness.clock.advance(emptyMs);
    expect((await harness.tick()).events.map(({ body }) => body.code)).toEqual([nthCode(0), nthCode(1), nthCode(2)]);
  }),
  example('a code has cooled exactly at the end of its time', async (harness) => {
    await harness.close(await harness.room(['anna'], { candidates: [nthCode(1)] }), 'anna');
    harness.clock.advance(cooldownMs - 1);
    expect((await harness.tick()).poolStats).toEqual({ occupied: 0, cooling: 1, nextFreeInMs: 1 });
    harness.clock.advance(1);
    expect((await harness.tick()).poolStats).toEqual({ occupied: 0, cooling: 0, nextFreeInMs: null });
    expect(await harness.room(['bert'], { candidates: [nthCode(1)] })).toMatchObject({ code: nthCode(1) });
  }),
  example('an empty room’s last member is reaped before the room is', async (harness) => {
    const room = await harness.room(['anna']);
    harness.clock.advance(idleMs);
    expect(eventsOf(await harness.tick())).toEqual([
      '2 member:left anna lost',
      '3 host:changed nobody',
      '4 room:closed idle',
    ]);
    expect(await harness.snapshot(room)).toBe('CODE_EXPIRED');
  }),
  example(
    'a host whose lease expires ends the room, by policy',
    async (harness) => {
      await harness.room(['anna', 'bert']);
      harness.clock.advance(leaseMs);
      const reaped = await harness.tick();
      expect(eventsOf(reaped)).toEqual(['3 member:left anna lost', '4 room:closed host-left']);
      expect(reaped.evicted).toMatchObject([
        { userId: 'anna', reason: 'lost' },
        { userId: 'bert', reason: 'host-left' },
      ]);
    },
    { policy: { closeOnHostLeave: true } },
  ),
];
