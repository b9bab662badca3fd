/** A user's record: which session is the present one, and where it sits. */
import { expect } from 'vitest';
import { POLICY } from '../../room/fixtures.ts';
import { NODE } from '../harness.ts';
import { example } from './example.ts';

const { leaseMs } = POLICY;
const expired = { ok: false, reason: 'SESSION_EXPIRED' };

export const users = [
  example('every arrival has a greater session number than the one before', async (harness) => {
    const now = harness.clock.now();
    expect(await harness.arrive('anna')).toEqual({
      ok: true,
      session: now,
      connectedAt: now,
      previous: null,
      seat: null,
    });
    expect(await harness.arrive('anna', { node: 'node-b' })).toEqual({
      ok: true,
      session: now + 1,
      connectedAt: now,
      previous: { session: now, nodeId: NODE, online: true },
      seat: null,
    });
    harness.clock.advance(1);
    expect(await harness.arrive('anna')).toMatchObject({
      session: now + 2,
      previous: { session: now + 1, nodeId: 'node-b' },
    });
    harness.clock.advance(50);
    expect(await harness.arrive('anna')).toMatchObject({ session: now + 51, connectedAt: now + 51 });
    expect(await harness.arrive('bert')).toMatchObject({ session: now + 51, previous: null });
  }),
  example('a record expires when it has not been touched for its time to live', async (harness) => {
    const { session } = await harness.arrive('anna');
    harness.clock.advance(leaseMs - 1);
    expect(await harness.touch('anna', session)).toEqual({ ok: true, now: harness.clock.now() });
    harness.clock.advance(leaseMs - 1);
    expect(await harness.arrive('anna')).toMatchObject({ previous: { session } });
    harness.clock.advance(leaseMs);
    expect(await harness.arrive('anna')).toMatchObject({ previous: null });
  }),
  example('only the current session can touch and depart', async (harness) => {
    const { session: first } = await harness.arrive('anna');
    const { session: second } = await harness.arrive('anna');
    expect(await harness.touch('anna', first)).toEqual(expired);
    expect(await harness.depart('anna', first)).toEqual(expired);
    expect(await harness.touch('anna', second)).toMatchObject({ ok: true });
    harness.clock.advance(2);
    expect(await harness.depart('anna', second)).toEqual({ ok: true });
    expect(await harness.depart('anna', second)).toEqual(expired);
    expect(await harness.depart('nobody', 1)).toEqual(expired);
  }),
  example('a session number is not given twice, however short the sessions are', async (harness) => {
    const { session: first } = await harness.arrive('anna');
    const { session: second } = await harness.arrive('anna');
    harness.clock.advance(1);
    expect(await harness.depart('anna', second)).toEqual({ ok: true });
    expect(await harness.depart('anna', first)).toEqual(expired);
    expect(await harness.arrive('anna')).toMatchObject({ session: second + 1, previous: { session: second } });
  }),
  example('a touch creates an expired record again', async (harness) => {
    const { session } = await harness.arrive('anna');
    const room = await harness.room(['anna']);
    harness.clock.advance(leaseMs);
    expect(await harness.touch('anna', session, room)).toMatchObject({ ok: true });
    expect(await harness.arrive('anna')).toMatchObject({
      previous: { session, online: true },
      seat: { code: room.code, ref: room.ref },
    });
  }),
  example(
    'a touch of a later session replaces the record of an earlier one, to which the store went back',
    async (harness) => {
      const { session } = await harness.arrive('anna');
      const later = session + 1;
      expect(await harness.touch('anna', later)).toMatchObject({ ok: true });
      expect(await harness.touch('anna', session)).toEqual(expired);
    },
  ),
  example('an arrival keeps the room of the user’s seat, until a touch changes it', async (harness) => {
    const room = await harness.room(['anna']);
    const seat = { code: room.code, ref: room.ref };
    const { session } = await harness.arrive('anna');
    await harness.touch('anna', session, room);
    expect(await harness.arrive('anna')).toMatchObject({ seat });
    const { session: third, seat: kept } = await harness.arrive('anna');
    expect(kept).toEqual(seat);
    await harness.touch('anna', third, null);
    expect(await harness.arrive('anna')).toMatchObject({ seat: null });
  }),
  example('a departing user with a seat is away for the grace; of any other user nothing is kept', async (harness) => {
    const room = await harness.room(['anna']);
    const { session } = await harness.arrive('anna');
    await harness.touch('anna', session, room);
    expect(await harness.depart('anna', session)).toEqual({ ok: true });
    harness.clock.advance(leaseMs - 1);
    expect(await harness.arrive('anna')).toMatchObject({
      previous: { session, online: false },
      seat: { ref: room.ref },
    });
    const { session: guest } = await harness.arrive('bert');
    harness.clock.advance(1);
    await harness.depart('bert', guest);
    expect(await harness.arrive('bert')).toMatchObject({ previous: null });
  }),
  example(
    'the record of an away user lives as long as its seat, when the grace is longer than the lease',
    async (harness) => {
      const room = await harness.room(['anna']);
      const { session } = await harness.arrive('anna');
      await harness.touch('anna', session, room);
      await harness.depart('anna', session);
      harness.clock.advance(2 * leaseMs - 1);
      expect(await harness.arrive('anna')).toMatchObject({ previous: { session, online: false } });
      harness.clock.advance(leaseMs);
      expect(await harness.arrive('anna')).toMatchObject({ previous: null });
    },
    { policy: { graceMs: 2 * leaseMs } },
  ),
];
