/** What the server's owner does to rooms, from outside and without a seat. */
import { expect } from 'vitest';
import type { RoomSnapshot } from '../../../src/protocol/snapshot.ts';
import { code, POLICY, refOf, told } from '../stage.ts';
import { example } from './example.ts';

const refused = (reason: string) => ({ ok: false, reason });

export const owner = [
  example('a room that nobody is host of waits for its first member', async (stage) => {
    const created = await stage.found();
    expect(created).toMatchObject({ ok: true, events: [], room: { rev: 0, hostId: null, members: [] } });
    const { room } = created as { room: RoomSnapshot }; // as just seen
    const joined = await stage.join(room, 'anna');
    expect(told(joined)).toEqual(['1 member:joined anna', '2 host:changed anna']);
    expect(await stage.seen(room)).toMatchObject({ hostId: 'anna', rev: 2, members: [{ userId: 'anna', seq: 1 }] });
  }),
  example('and ends when nobody comes', async (stage) => {
    await stage.found();
    stage.clock.advance(POLICY.emptyMs - 1);
    expect(told(await stage.tick())).toEqual([]);
    stage.clock.advance(1);
    expect(told(await stage.tick())).toEqual(['1 room:closed empty']);
  }),
  example('the owner changes a room as its host does', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    const updated = await stage.byOwner({ kind: 'update', change: { of: 'room', to: { locked: true } } }, room);
    expect(told(updated)).toEqual(['3 room:updated room']);
    expect(await stage.seen(room)).toMatchObject({ locked: true, rev: 3 });
    expect(told(await stage.byOwner({ kind: 'update', change: { of: 'room', to: {} } }, room))).toEqual([]);
  }),
  example('the owner removes anybody, the host too', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    const kicked = await stage.byOwner({ kind: 'kick', target: 'anna', ban: true }, room);
    expect(told(kicked)).toEqual(['3 member:left anna', '4 host:changed bert']);
    expect(kicked).toMatchObject({ evicted: [{ userId: 'anna', reason: 'kicked' }] });
    expect(await stage.join(room, 'anna')).toEqual(refused('BANNED'));
    expect(await stage.byOwner({ kind: 'kick', target: 'cora', ban: true }, room)).toEqual(refused('PEER_NOT_FOUND'));
  }),
  example('the owner ends a room', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    const closed = await stage.byOwner({ kind: 'close' }, room);
    expect(told(closed)).toEqual(['3 room:closed closed']);
    expect(closed).toMatchObject({ evicted: [{ userId: 'anna' }, { userId: 'bert' }] });
    expect(await stage.byOwner({ kind: 'close' }, room)).toEqual(refused('CODE_EXPIRED'));
  }),
  example('what the owner means for one room never hits the next one under its code', async (stage) => {
    const room = { ...(await stage.room(['anna'])), ref: refOf(99) };
    for (const act of [
      { kind: 'close' },
      { kind: 'kick', target: 'anna', ban: false },
      { kind: 'update', change: { of: 'room', to: { locked: true } } },
    ] as const) {
      expect(await stage.byOwner(act, room)).toEqual(refused('CODE_EXPIRED'));
    }
  }),
  example(
    'the rooms of a shard are listed in the order of their codes, a page at a time',
    async (stage) => {
      expect(await stage.list()).toEqual({ ok: true, rooms: [], more: false });
      for (const index of [3, 0, 4, 1])
        await stage.room(['anna', 'bert'], { candidates: [code(index)], ref: refOf(index + 1) });
      await stage.found({ candidates: [code(2)], ref: refOf(3) });
      const first = await stage.list({ limit: 2 });
      expect(first).toMatchObject({ more: true, rooms: [{ code: code(0) }, { code: code(1) }] });
      const second = await stage.list({ after: code(1), limit: 3 });
      expect(second).toMatchObject({ more: false, rooms: [{ memberCount: 0 }, { memberCount: 2 }, { code: code(4) }] });
      const { members: _, ...room } = (await stage.seen({ code: code(2), ref: refOf(3) })) as RoomSnapshot; // it is there
      expect(second.rooms[0]).toEqual({ ...room, memberCount: 0 });
      expect(await stage.list({ after: code(4) })).toMatchObject({ rooms: [], more: false });
    },
    { perShard: 6 },
  ),
] as const;
