/** What a room says of itself. */
import { expect } from 'vitest';
import { key, POLICY, told } from '../stage.ts';
import { example } from './example.ts';

/** What a parser that is not JavaScript's would change: empty lists, long numbers, half of a surrogate pair, escapes. */
const AWKWARD = String.raw`{"list":[],"object":{},"float":1.0,"long":12345678.123456789,"half":"\ud800","zero":"\u0000","slash":"\/","none":null}`;

export const rooms = [
  example('a new room has its creator as host and first member', async (stage) => {
    const now = stage.clock.now();
    const created = await stage.create('anna', {
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
  example('what is not given is null or not there', async (stage) => {
    const room = await stage.room(['anna']);
    expect(room).toMatchObject({ name: null, locked: false, members: [{ name: null }] });
    expect(room).not.toHaveProperty('metadata');
    expect(room.members[0]).not.toHaveProperty('mediaType');
    expect(room.members[0]).not.toHaveProperty('metadata');
  }),
  example('opaque bodies and names come out as they went in', async (stage) => {
    const name = 'Zoë "\\" / \u007f 🚂 \'';
    const room = await stage.room(['anna'], {
      profile: { name, metadata: AWKWARD },
      settings: { name, metadata: AWKWARD },
    });
    const body = JSON.parse(AWKWARD);
    await stage.join(room, 'bert', { profile: { name, metadata: AWKWARD } });
    expect(await stage.seen(room)).toMatchObject({
      name,
      metadata: body,
      members: [
        { name, metadata: body },
        { name, metadata: body },
      ],
    });
    await stage.updateRoom(room, 'anna', { metadata: '[]' });
    await stage.updateSeat(room, 'anna', { metadata: '{}' });
    expect(await stage.seen(room)).toMatchObject({ metadata: [], members: [{ metadata: {} }, { metadata: body }] });
  }),
  example('reading does not change a room', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    expect(await stage.read(room.code)).toEqual({ ok: true, room });
    expect(await stage.read(room.code, room.ref)).toEqual({ ok: true, room });
  }),
  example('a room that is not there is not found, one that is meant and gone has expired', async (stage) => {
    const room = await stage.room(['anna']);
    await stage.close(room, 'anna');
    expect(await stage.read(room.code)).toEqual({ ok: false, reason: 'ROOM_NOT_FOUND' });
    expect(await stage.read(room.code, room.ref)).toEqual({ ok: false, reason: 'CODE_EXPIRED' });
  }),
  example('who thinks of joining is told what a join would be told', async (stage) => {
    const room = await stage.room(['anna', 'bert'], { settings: { maxUsers: 3 } });
    expect(await stage.ask(room.code, 'cleo')).toEqual({ ok: true, room });
    await stage.kick(room, 'anna', 'bert', { ban: true });
    expect(await stage.ask(room.code, 'bert')).toEqual({ ok: false, reason: 'BANNED' });
    await stage.updateRoom(room, 'anna', { locked: true });
    expect(await stage.ask(room.code, 'cleo')).toEqual({ ok: false, reason: 'ROOM_LOCKED' });
    expect(await stage.ask(room.code, 'anna')).toMatchObject({ ok: true });
    await stage.updateRoom(room, 'anna', { locked: false });
    await stage.join(room, 'cleo');
    await stage.join(room, 'dora');
    expect(await stage.ask(room.code, 'emil')).toEqual({ ok: false, reason: 'ROOM_FULL' });
    expect(await stage.ask(room.code, 'dora')).toMatchObject({ ok: true });
  }),
  example('the host changes what the room says of itself', async (stage) => {
    const room = await stage.room(['anna', 'bert'], { settings: { name: 'Old', metadata: '1' } });
    const updated = await stage.updateRoom(room, 'anna', { name: 'New', type: 'talk', maxUsers: 9, locked: true });
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
    expect(await stage.updateRoom(room, 'bert', { name: 'Mine' })).toEqual({ ok: false, reason: 'FORBIDDEN' });
    expect(await stage.updateRoom(room, 'anna', { locked: false })).toMatchObject({ room: { locked: false } });
  }),
  example('a member changes what its seat says', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    const updated = await stage.updateSeat(room, 'bert', { name: 'Bert', mediaType: 'audio', metadata: '7' });
    const member = { ...room.members[1], name: 'Bert', mediaType: 'audio', metadata: 7 };
    expect(updated).toEqual({
      ok: true,
      room: { ...room, rev: room.rev + 1, members: [room.members[0], member] },
      events: [{ name: 'member:updated', body: { code: room.code, ref: room.ref, rev: room.rev + 1, member } }],
    });
    expect(told(await stage.updateSeat(room, 'anna', { name: 'Anna' }))).toEqual([
      `${room.rev + 2} member:updated anna`,
    ]);
    expect(await stage.seen(room)).toMatchObject({ members: [{ name: 'Anna', role: 'host' }, member] });
  }),
  example('a change of nothing changes nothing', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    stage.clock.advance(1_000);
    expect(await stage.updateRoom(room, 'anna', {})).toEqual({ ok: true, room, events: [] });
    expect(await stage.updateSeat(room, 'bert', {})).toEqual({ ok: true, room, events: [] });
    expect(await stage.updateRoom(room, 'bert', {})).toEqual({ ok: false, reason: 'FORBIDDEN' });
  }),
  example('a change by an earlier session, or by nobody there, is refused', async (stage) => {
    const room = await stage.room(['anna']);
    await stage.resume(room, 'anna', 2);
    expect(await stage.updateRoom(room, 'anna', { name: 'Late' }, 1)).toEqual({ ok: false, reason: 'SESSION_EXPIRED' });
    expect(await stage.updateSeat(room, 'bert', { name: 'Bert' })).toEqual({ ok: false, reason: 'NOT_IN_ROOM' });
  }),
  example('a seat that is changed keeps its lease', async (stage) => {
    const room = await stage.room(['anna', 'bert']);
    stage.clock.advance(1_000);
    await stage.updateSeat(room, 'bert', { name: 'Bert' });
    stage.clock.advance(POLICY.leaseMs - 1_000);
    expect(told(await stage.tick([key(room, 'anna')]))).toEqual(['4 member:left bert']);
  }),
];
