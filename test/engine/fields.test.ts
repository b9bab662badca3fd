/** A room's fields and a seat's are spelt in the rules, in the protocol, and in one table for Redis. They must agree. */
import { expect, test } from 'vitest';
import { luaTables, ROOM_FIELDS, SEAT_FIELDS } from '../../src/engine/redis/fields.ts';
import { member, roomInfo } from '../../src/protocol/snapshot.ts';
import { type Room, type Seat, toInfo, toMember } from '../../src/room/room.ts';
import { joiningUser, refOf } from '../room/fixtures.ts';
import { NODE, nthCode } from './harness.ts';

const { userId, session } = joiningUser('anna');

/** `Required`: a field that is added to the type must be added here. */
const seat: Required<Seat> = {
  userId,
  name: 'Anna',
  mediaType: 'video',
  metadata: '[]',
  seq: 1,
  joinedAt: 0,
  state: 'present',
  session,
  nodeId: NODE,
  leaseUntil: 1,
};
const room: Required<Room> = {
  code: nthCode(1),
  ref: refOf(1),
  rev: 0,
  name: 'Room',
  type: 'call',
  maxUsers: 2,
  access: 'open',
  locked: false,
  hostId: userId,
  createdBy: userId,
  createdAt: 0,
  expiresAt: 1,
  lastActive: 0,
  emptySince: 0,
  nextSeq: 2,
  metadata: '{}',
  banned: [],
  epoch: 1,
  leapedTo: null,
  seats: [seat],
};

test('every field of a room and of a seat is stored', () => {
  const { seats: _, ...fields } = room;
  expect(Object.keys(ROOM_FIELDS).toSorted()).toEqual(Object.keys(fields).toSorted());
  expect(Object.keys(SEAT_FIELDS).toSorted()).toEqual(Object.keys(seat).toSorted());
});

test('the rules show exactly the fields of the protocol', () => {
  expect(Object.keys(toInfo(room))).toEqual(Object.keys(roomInfo.shape));
  expect(Object.keys(toMember(seat, userId))).toEqual(Object.keys(member.shape));
});

test('the scripts show exactly the fields of the protocol, in its order', () => {
  const shown = (table: string) =>
    [...(new RegExp(`${table} = \\{ (.*) \\}`).exec(luaTables())?.[1] ?? '').matchAll(/'(\w+)', '(\w+\??)'/g)].map(
      ([, field]) => field,
    );
  expect(shown('ROOM_JSON')).toEqual(Object.keys(roomInfo.shape));
  expect(shown('MEMBER_JSON')).toEqual(Object.keys(member.shape));
});
