/** What the server's owner does to rooms, from outside and without a seat. */
import { expect } from 'vitest';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { eventsOf } from '../../room/events-in-words.ts';
import { POLICY, refOf } from '../../room/fixtures.ts';
import { nthCode } from '../harness.ts';
import { example } from './example.ts';

const refused = (reason: string) => ({ ok: false, reason });

export const owner = [
  example('a room without a host waits for its first member', async (harness) => {
    const created = await harness.createWithoutHost();
    expect(created).toMatchObject({ ok: true, events: [], room: { rev: 0, hostId: null, members: [] } });
    const { room } = created as { room: RoomSnapshot }; // as just seen
    const joined = await harness.join(room, 'anna');
    expect(eventsOf(joined)).toEqual(['1 member:joined anna', '2 host:changed anna']);
    expect(await harness.snapshot(room)).toMatchObject({
      hostId: 'anna',
      rev: 2,
      members: [{ userId: 'anna', seq: 1 }],
    });
  }),
  example('a room without a host ends when no user joins', async (harness) => {
    await harness.createWithoutHost();
    harness.clock.advance(POLICY.emptyMs - 1);
    expect(eventsOf(await harness.tick())).toEqual([]);
    harness.clock.advance(1);
    expect(eventsOf(await harness.tick())).toEqual(['1 room:closed empty']);
  }),
  example('the owner changes a room as its host does', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    const updated = await harness.byOwner(
      { kind: 'update', change: { subject: 'room', values: { locked: true } } },
      room,
    );
    expect(eventsOf(updated)).toEqual(['3 room:updated']);
    expect(await harness.snapshot(room)).toMatchObject({ locked: true, rev: 3 });
    expect(eventsOf(await harness.byOwner({ kind: 'update', change: { subject: 'room', values: {} } }, room))).toEqual(
      [],
    );
  }),
  example('the owner removes any member, even the host', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    const kicked = await harness.byOwner({ kind: 'kick', target: 'anna', ban: true }, room);
    expect(eventsOf(kicked)).toEqual(['3 member:left anna kicked', '4 host:changed bert']);
    expect(kicked).toMatchObject({ evicted: [{ userId: 'anna', reason: 'kicked' }] });
    expect(await harness.join(room, 'anna')).toEqual(refused('BANNED'));
    expect(await harness.byOwner({ kind: 'kick', target: 'cora', ban: true }, room)).toEqual(refused('PEER_NOT_FOUND'));
  }),
  example('the owner ends a room', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    const closed = await harness.byOwner({ kind: 'close' }, room);
    expect(eventsOf(closed)).toEqual(['3 room:closed closed']);
    expect(closed).toMatchObject({ evicted: [{ userId: 'anna' }, { userId: 'bert' }] });
    expect(await harness.byOwner({ kind: 'close' }, room)).toEqual(refused('CODE_EXPIRED'));
  }),
  example('a command of the owner never affects a later room of the same code', async (harness) => {
    const room = { ...(await harness.room(['anna'])), ref: refOf(99) };
    for (const act of [
      { kind: 'close' },
      { kind: 'kick', target: 'anna', ban: false },
      { kind: 'update', change: { subject: 'room', values: { locked: true } } },
    ] as const) {
      expect(await harness.byOwner(act, room)).toEqual(refused('CODE_EXPIRED'));
    }
  }),
  example(
    'the rooms of a shard are listed in the order of their codes, a page at a time',
    async (harness) => {
      expect(await harness.list()).toEqual({ ok: true, rooms: [], more: false });
      for (const index of [3, 0, 4, 1])
        await harness.room(['anna', 'bert'], { candidates: [nthCode(index)], ref: refOf(index + 1) });
      await harness.createWithoutHost({ candidates: [nthCode(2)], ref: refOf(3) });
      const first = await harness.list({ limit: 2 });
      expect(first).toMatchObject({ more: true, rooms: [{ code: nthCode(0) }, { code: nthCode(1) }] });
      const second = await harness.list({ after: nthCode(1), limit: 3 });
      expect(second).toMatchObject({
        more: false,
        rooms: [{ memberCount: 0 }, { memberCount: 2 }, { code: nthCode(4) }],
      });
      const { members: _, ...room } = (await harness.snapshot({ code: nthCode(2), ref: refOf(3) })) as RoomSnapshot; // it is there
      expect(second.rooms[0]).toEqual({ ...room, memberCount: 0 });
      expect(await harness.list({ after: nthCode(4) })).toMatchObject({ rooms: [], more: false });
    },
    { perShard: 6 },
  ),
] as const;
