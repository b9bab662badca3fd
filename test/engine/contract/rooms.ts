/** What a room says of itself. */
import { expect } from 'vitest';
import { eventsOf } from '../../room/events-in-words.ts';
import { POLICY, seatKey } from '../../room/fixtures.ts';
import { example } from './example.ts';

/** What a parser that is not JavaScript's would change: empty lists, long numbers, half of a surrogate pair, escapes. */
const AWKWARD = String.raw`{"list":[],"object":{},"float":1.0,"long":12345678.123456789,"half":"\ud800","zero":"\u0000","slash":"\/","none":null}`;

export const rooms = [
  example('a new room has its creator as host and first member', async (harness) => {
    const now = harness.clock.now();
    const created = await harness.create('anna', {
      profile: { name: 'Anna', mediaType: 'video', metadata: '{"a":1}' },
      settings: { name: 'Standup', type: 'webinar', maxUsers: 5, locked: true, metadata: '[1]' },
    });
    expect(created).toEqual({
      ok: true,
      events: [],
      room: {
        code: '100007',
        ref: 'ROM202600000001',
        rev: 1,
        name: 'Standup',
        type: 'webinar',
        maxUsers: 5,
        access: 'open',
        locked: true,
        hostId: 'anna',
        createdAt: now,
        expiresAt: now + POLICY.maxAgeMs,
        metadata: [1],
        members: [
          {
            userId: 'anna',
            name: 'Anna',
            role: 'host',
            state: 'present',
            seq: 1,
            joinedAt: now,
            mediaType: 'video',
            metadata: { a: 1 },
          },
        ],
      },
    });
  }),
  example('an omitted setting is null or absent', async (harness) => {
    const room = await harness.room(['anna']);
    expect(room).toMatchObject({ name: null, locked: false, members: [{ name: null }] });
    expect(room).not.toHaveProperty('metadata');
    expect(room.members[0]).not.toHaveProperty('mediaType');
    expect(room.members[0]).not.toHaveProperty('metadata');
  }),
  example('opaque bodies and names are not changed', async (harness) => {
    const name = 'Zoë "\\" / \u007f 🚂 \'';
    const room = await harness.room(['anna'], {
      profile: { name, metadata: AWKWARD },
      settings: { name, metadata: AWKWARD },
    });
    const body = JSON.parse(AWKWARD);
    await harness.join(room, 'bert', { profile: { name, metadata: AWKWARD } });
    expect(await harness.snapshot(room)).toMatchObject({
      name,
      metadata: body,
      members: [
        { name, metadata: body },
        { name, metadata: body },
      ],
    });
    await harness.updateRoom(room, 'anna', { metadata: '[]' });
    await harness.updateSeat(room, 'anna', { metadata: '{}' });
    expect(await harness.snapshot(room)).toMatchObject({
      metadata: [],
      members: [{ metadata: {} }, { metadata: body }],
    });
  }),
  example('reading does not change a room', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    expect(await harness.read(room.code)).toEqual({ ok: true, room });
    expect(await harness.read(room.code, room.ref)).toEqual({ ok: true, room });
  }),
  example('an unknown code is not found, and the ref of an ended room has expired', async (harness) => {
    const room = await harness.room(['anna']);
    await harness.close(room, 'anna');
    expect(await harness.read(room.code)).toEqual({ ok: false, reason: 'ROOM_NOT_FOUND' });
    expect(await harness.read(room.code, room.ref)).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
    expect(await harness.readSince(room, ['anna'])).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
    expect(await harness.resolve(room.code)).toEqual({ ok: false, reason: 'ROOM_NOT_FOUND' });
    expect(await harness.resolve(room.code, room.ref)).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
  }),
  example('a read by members who have the present revision is answered without the room', async (harness) => {
    const before = await harness.room(['anna', 'bert']);
    const unchanged = { ok: false, reason: 'UNCHANGED' };
    expect(await harness.readSince(before, ['anna', 'bert'])).toEqual(unchanged);
    expect(await harness.readSince(before)).toEqual(unchanged);
    // Somebody is no member: the room tells.
    expect(await harness.readSince(before, ['anna', 'cleo'])).toEqual({ ok: true, room: before });
    await harness.leave(before, 'bert');
    const read = await harness.readSince(before, ['anna']);
    const after = read.ok ? read.room : expect.unreachable();
    expect(after.members).toHaveLength(1);
    expect(await harness.readSince(after, ['anna'])).toEqual(unchanged);
    // A revision that the room has not reached yet: the store has lost writes.
    expect(await harness.readSince({ ...after, rev: after.rev + 1 }, ['anna'])).toEqual({ ok: true, room: after });
    expect(await harness.readSince(after, ['bert'])).toEqual({ ok: true, room: after });
  }),
  example('a code is resolved to the ref and the revision of its room', async (harness) => {
    const { code, ref, rev } = await harness.room(['anna', 'bert']);
    expect(await harness.resolve(code)).toEqual({ ok: true, ref, rev });
    expect(await harness.resolve(code, ref)).toEqual({ ok: true, ref, rev });
  }),
  example('a code is not resolved for a user whose join would be refused', async (harness) => {
    const room = await harness.room(['anna', 'bert'], { settings: { maxUsers: 3 } });
    expect(await harness.resolveAsJoiner(room.code, 'cleo')).toEqual({ ok: true, ref: room.ref, rev: room.rev });
    await harness.kick(room, 'anna', 'bert', { ban: true });
    expect(await harness.resolveAsJoiner(room.code, 'bert')).toEqual({ ok: false, reason: 'BANNED' });
    await harness.updateRoom(room, 'anna', { locked: true });
    expect(await harness.resolveAsJoiner(room.code, 'cleo')).toEqual({ ok: false, reason: 'ROOM_LOCKED' });
    expect(await harness.resolveAsJoiner(room.code, 'anna')).toMatchObject({ ok: true });
    await harness.updateRoom(room, 'anna', { locked: false });
    await harness.join(room, 'cleo');
    await harness.join(room, 'dora');
    expect(await harness.resolveAsJoiner(room.code, 'emil')).toEqual({ ok: false, reason: 'ROOM_FULL' });
    expect(await harness.resolveAsJoiner(room.code, 'dora')).toMatchObject({ ok: true });
  }),
  example('the host changes the settings of the room', async (harness) => {
    const room = await harness.room(['anna', 'bert'], { settings: { name: 'Old', metadata: '1' } });
    const updated = await harness.updateRoom(room, 'anna', { name: 'New', type: 'talk', maxUsers: 9, locked: true });
    const { members, ...info } = {
      ...room,
      name: 'New',
      type: 'talk',
      maxUsers: 9,
      locked: true,
      rev: room.rev + 1,
    };
    expect(updated).toEqual({
      ok: true,
      room: { ...info, members },
      events: [{ name: 'room:updated', body: { code: room.code, ref: room.ref, rev: room.rev + 1, room: info } }],
    });
    expect(await harness.updateRoom(room, 'bert', { name: 'Mine' })).toEqual({ ok: false, reason: 'FORBIDDEN' });
    expect(await harness.updateRoom(room, 'anna', { locked: false })).toMatchObject({ room: { locked: false } });
  }),
  example('a member changes its profile', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    const updated = await harness.updateSeat(room, 'bert', { name: 'Bert', mediaType: 'audio', metadata: '7' });
    const member = { ...room.members[1], name: 'Bert', mediaType: 'audio', metadata: 7 };
    expect(updated).toEqual({
      ok: true,
      room: { ...room, rev: room.rev + 1, members: [room.members[0], member] },
      events: [{ name: 'member:updated', body: { code: room.code, ref: room.ref, rev: room.rev + 1, member } }],
    });
    expect(eventsOf(await harness.updateSeat(room, 'anna', { name: 'Anna' }))).toEqual([
      `${room.rev + 2} member:updated anna`,
    ]);
    expect(await harness.snapshot(room)).toMatchObject({ members: [{ name: 'Anna', role: 'host' }, member] });
  }),
  example('an empty change changes nothing', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    harness.clock.advance(1_000);
    expect(await harness.updateRoom(room, 'anna', {})).toEqual({ ok: true, room, events: [] });
    expect(await harness.updateSeat(room, 'bert', {})).toEqual({ ok: true, room, events: [] });
    expect(await harness.updateRoom(room, 'bert', {})).toEqual({ ok: false, reason: 'FORBIDDEN' });
  }),
  example('a change by an earlier session, or by a user without a seat, is refused', async (harness) => {
    const room = await harness.room(['anna']);
    await harness.resume(room, 'anna', 2);
    expect(await harness.updateRoom(room, 'anna', { name: 'Late' }, 1)).toEqual({
      ok: false,
      reason: 'SESSION_EXPIRED',
    });
    expect(await harness.updateSeat(room, 'bert', { name: 'Bert' })).toEqual({ ok: false, reason: 'NOT_IN_ROOM' });
  }),
  example('a changed seat keeps its lease', async (harness) => {
    const room = await harness.room(['anna', 'bert']);
    harness.clock.advance(1_000);
    await harness.updateSeat(room, 'bert', { name: 'Bert' });
    harness.clock.advance(POLICY.leaseMs - 1_000);
    expect(eventsOf(await harness.tick([seatKey(room, 'anna')]))).toEqual(['4 member:left bert lost']);
  }),
];
