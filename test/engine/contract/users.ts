/** A user's record: which session is the present one, and where it sits. */
import { expect } from 'vitest';
import { NODE, POLICY } from '../stage.ts';
import { example } from './example.ts';

const { leaseMs } = POLICY;
const expired = { ok: false, reason: 'SESSION_EXPIRED' };

export const users = [
  example('every arrival has a greater session number than the one before', async (stage) => {
    const now = stage.clock.now();
    expect(await stage.arrive('anna')).toEqual({
      ok: true,
      session: now,
      connectedAt: now,
      previous: null,
      seat: null,
    });
    expect(await stage.arrive('anna', { node: 'node-b' })).toEqual({
      ok: true,
      session: now + 1,
      connectedAt: now,
      previous: { session: now, nodeId: NODE, online: true },
      seat: null,
    });
    stage.clock.advance(1);
    expect(await stage.arrive('anna')).toMatchObject({
      session: now + 2,
      previous: { session: now + 1, nodeId: 'node-b' },
    });
    stage.clock.advance(50);
    expect(await stage.arrive('anna')).toMatchObject({ session: now + 51, connectedAt: now + 51 });
    expect(await stage.arrive('bert')).toMatchObject({ session: now + 51, previous: null });
  }),
  example('a record is gone when nobody has touched it for its time', async (stage) => {
    const { session } = await stage.arrive('anna');
    stage.clock.advance(leaseMs - 1);
    expect(await stage.touch('anna', session)).toEqual({ ok: true, now: stage.clock.now() });
    stage.clock.advance(leaseMs - 1);
    expect(await stage.arrive('anna')).toMatchObject({ previous: { session } });
    stage.clock.advance(leaseMs);
    expect(await stage.arrive('anna')).toMatchObject({ previous: null });
  }),
  example('only the present session touches and departs', async (stage) => {
    const { session: first } = await stage.arrive('anna');
    const { session: second } = await stage.arrive('anna');
    expect(await stage.touch('anna', first)).toEqual(expired);
    expect(await stage.depart('anna', first)).toEqual(expired);
    expect(await stage.touch('anna', second)).toMatchObject({ ok: true });
    stage.clock.advance(2);
    expect(await stage.depart('anna', second)).toEqual({ ok: true });
    expect(await stage.depart('anna', second)).toEqual(expired);
    expect(await stage.depart('nobody', 1)).toEqual(expired);
  }),
  example('a number is not given twice, however short the sessions are', async (stage) => {
    const { session: first } = await stage.arrive('anna');
    const { session: second } = await stage.arrive('anna');
    stage.clock.advance(1);
    expect(await stage.depart('anna', second)).toEqual({ ok: true });
    expect(await stage.depart('anna', first)).toEqual(expired);
    expect(await stage.arrive('anna')).toMatchObject({ session: second + 1, previous: { session: second } });
  }),
  example('a record that had expired is made anew by a touch', async (stage) => {
    const { session } = await stage.arrive('anna');
    const room = await stage.room(['anna']);
    stage.clock.advance(leaseMs);
    expect(await stage.touch('anna', session, room)).toMatchObject({ ok: true });
    expect(await stage.arrive('anna')).toMatchObject({
      previous: { session, online: true },
      seat: { code: room.code, ref: room.ref },
    });
  }),
  example('where the user sits is kept over arrivals, until a touch says otherwise', async (stage) => {
    const room = await stage.room(['anna']);
    const seat = { code: room.code, ref: room.ref };
    const { session } = await stage.arrive('anna');
    await stage.touch('anna', session, room);
    expect(await stage.arrive('anna')).toMatchObject({ seat });
    const { session: third, seat: kept } = await stage.arrive('anna');
    expect(kept).toEqual(seat);
    await stage.touch('anna', third, null);
    expect(await stage.arrive('anna')).toMatchObject({ seat: null });
  }),
  example('who departs from a seat is away for the grace; of others nothing is kept', async (stage) => {
    const room = await stage.room(['anna']);
    const { session } = await stage.arrive('anna');
    await stage.touch('anna', session, room);
    expect(await stage.depart('anna', session)).toEqual({ ok: true });
    stage.clock.advance(leaseMs - 1);
    expect(await stage.arrive('anna')).toMatchObject({ previous: { session, online: false }, seat: { ref: room.ref } });
    const { session: guest } = await stage.arrive('bert');
    stage.clock.advance(1);
    await stage.depart('bert', guest);
    expect(await stage.arrive('bert')).toMatchObject({ previous: null });
  }),
  example(
    'an away user is kept as long as its seat, when the grace is longer than the lease',
    async (stage) => {
      const room = await stage.room(['anna']);
      const { session } = await stage.arrive('anna');
      await stage.touch('anna', session, room);
      await stage.depart('anna', session);
      stage.clock.advance(2 * leaseMs - 1);
      expect(await stage.arrive('anna')).toMatchObject({ previous: { session, online: false } });
      stage.clock.advance(leaseMs);
      expect(await stage.arrive('anna')).toMatchObject({ previous: null });
    },
    { policy: { graceMs: 2 * leaseMs } },
  ),
];
