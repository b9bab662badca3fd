/** Contents of the record of a call. */
import { expect, test } from 'vitest';
import { findCall, listCalls } from '../../../src/records/read.ts';
import type { DatabaseHarness } from '../../database/harness.ts';
import { recordRooms, startRooms } from '../harness.ts';

export function calls(harness: DatabaseHarness): void {
  test('a record covers a call from its creation to its end', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const began = rooms.clock.now();
    const room = await rooms.room(['anna'], { settings: { name: 'Stand-up', type: 'video' } });
    rooms.clock.advance(1_000);
    await rooms.join(room, 'ben', { profile: { name: 'Ben', mediaType: 'audio' } });
    await rooms.join(room, 'Anna');
    rooms.clock.advance(1_000);
    await rooms.updateSeat(room, 'ben', { mediaType: 'video' });
    await rooms.leave(room, 'ben');
    await recordRooms(rooms, database);
    expect(await findCall(database, room.ref)).toMatchObject({ endedAt: null, reason: null, peakMembers: 3 });
    await rooms.join(room, 'ben');
    await rooms.leave(room, 'anna');
    rooms.clock.advance(1_000);
    await rooms.kick(room, 'ben', 'Anna');
    await rooms.kick(room, 'Anna', 'ben');
    await rooms.close(room, 'ben');
    await rooms.close(room, 'Anna');
    await recordRooms(rooms, database);

    const session = { name: null, mediaType: null };
    expect(await findCall(database, room.ref)).toEqual({
      ref: room.ref,
      code: room.code,
      type: 'video',
      name: 'Stand-up',
      createdAt: began,
      endedAt: began + 3_000,
      reason: 'closed',
      hostId: 'Anna',
      createdBy: 'anna',
      peakMembers: 3,
      totalMembers: 3,
      signals: 0,
      complete: true,
      participants: [
        { ...session, seq: 1, userId: 'anna', joinedAt: began, leftAt: began + 2_000, reason: 'left' },
        {
          ...session,
          seq: 2,
          userId: 'ben',
          name: 'Ben',
          mediaType: 'video',
          joinedAt: began + 1_000,
          leftAt: began + 2_000,
          reason: 'left',
        },
        { ...session, seq: 3, userId: 'Anna', joinedAt: began + 1_000, leftAt: began + 3_000, reason: 'closed' },
        { ...session, seq: 4, userId: 'ben', joinedAt: began + 2_000, leftAt: began + 3_000, reason: 'kicked' },
      ],
    });
  });

  test('a room that a back end creates has no creator, and its first member is the host', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const founded = await rooms.createWithoutHost();
    if (!founded.ok) return expect.unreachable();
    await rooms.join(founded.room, 'ben');
    await recordRooms(rooms, database);
    expect(await findCall(database, founded.room.ref)).toMatchObject({
      createdBy: null,
      hostId: 'ben',
      complete: true,
    });
  });

  test('user input is stored unchanged', async () => {
    const database = await harness.fresh();
    const rooms = startRooms();
    const names = [String.raw`\'; DROP TABLE signalbox_calls; --`, `"O'Neil"`, '🚂 Zoë', String.raw`a\\b?c$1`];
    const made = await Promise.all(names.map((name) => rooms.create('zoe', { settings: { name } })));
    await recordRooms(rooms, database);
    const { calls } = await listCalls(database, { limit: 10 });
    expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(names));
    expect(made.every(({ ok }) => ok)).toBe(true);
  });
}
