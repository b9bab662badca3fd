/**
 * How the fields of a room and of a seat are stored. The schemas that check the replies of the scripts are made of these
 * tables, and so are the Lua tables by which scripts read and write rooms, and put rooms and members into the feed. Two
 * places in Lua list their fields themselves: `new_seat` in seats.lua, because a seat is stored as one JSON object, and
 * user.lua, because a user's record is not in these tables.
 */
import { z } from 'zod';
import type { NodeId, UserId } from '../../protocol/ids.ts';
import {
  access,
  instant,
  member,
  revision,
  roomCode,
  roomInfo,
  roomRef,
  sessionNumber,
  userId,
} from '../../protocol/snapshot.ts';
import { LEAP, RECONNECTED_MS, SEQ_LEAP } from '../../room/epoch.ts';
import { FEED_TYPE_OF } from '../../room/feed-events.ts';
import { DEFERRED, DOUBTFUL } from '../../room/recovery.ts';
import type { Room, Seat } from '../../room/room.ts';

/**
 * `word` has no characters that JSON escapes, `text` may have, `json` is an opaque body. `?`: the field
 * is omitted from the JSON when it has no value; otherwise it is null.
 */
type LuaType = 'word' | 'word?' | 'text' | 'number' | 'boolean' | 'json?';

interface Field {
  readonly lua: LuaType;
  /** Schema of the value in the reply of a script. */
  readonly schema: z.ZodType;
}

/** Null is stored by leaving out the field. */
export const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().default(null);

// Unchecked: only this server makes the ids of nodes.
export const nodeId = z.string().transform((text) => text as NodeId);

// Ids in one string, separated by spaces, which no id contains.
export const idList = z.string().transform((text) => text.split(' ').filter(Boolean) as UserId[]);

export const ROOM_FIELDS = {
  code: { lua: 'word', schema: roomCode },
  ref: { lua: 'word', schema: roomRef },
  rev: { lua: 'number', schema: revision },
  name: { lua: 'text', schema: orNull(z.string()) },
  type: { lua: 'word', schema: z.string() },
  maxUsers: { lua: 'number', schema: z.int() },
  access: { lua: 'word', schema: access },
  locked: { lua: 'boolean', schema: z.boolean() },
  hostId: { lua: 'word', schema: orNull(userId) },
  createdBy: { lua: 'word', schema: orNull(userId) },
  createdAt: { lua: 'number', schema: instant },
  expiresAt: { lua: 'number', schema: instant },
  lastActive: { lua: 'number', schema: instant },
  emptySince: { lua: 'number', schema: orNull(instant) },
  nextSeq: { lua: 'number', schema: z.int().positive() },
  metadata: { lua: 'json?', schema: z.string().exactOptional() },
  banned: { lua: 'word', schema: idList.default([]) },
  epoch: { lua: 'number', schema: z.number() },
  leapedTo: { lua: 'number', schema: orNull(revision) },
} as const satisfies Readonly<Record<Exclude<keyof Room, 'seats'>, Field>>;

export const SEAT_FIELDS = {
  userId: { lua: 'word', schema: userId },
  name: { lua: 'text', schema: orNull(z.string()) },
  mediaType: { lua: 'word?', schema: z.string().exactOptional() },
  metadata: { lua: 'json?', schema: z.string().exactOptional() },
  seq: { lua: 'number', schema: z.int().positive() },
  joinedAt: { lua: 'number', schema: instant },
  state: { lua: 'word', schema: z.enum(['present', 'away']) },
  session: { lua: 'number', schema: sessionNumber },
  nodeId: { lua: 'word', schema: nodeId },
  leaseUntil: { lua: 'number', schema: instant },
} as const satisfies Readonly<Record<keyof Seat, Field>>;

export const storedRoom = z.object(schemasOf(ROOM_FIELDS)) satisfies z.ZodType<Omit<Room, 'seats'>>;
export const storedSeat = z.object(schemasOf(SEAT_FIELDS)) satisfies z.ZodType<Seat>;

/** The fields that members and back ends see, in the order of the protocol. A member's role follows from its room. */
const ROOM_JSON = Object.keys(roomInfo.shape).map((field) => [field, typeOf(ROOM_FIELDS, field)]);
const MEMBER_JSON = Object.keys(member.shape).map((field) => [
  field,
  typeOf({ ...SEAT_FIELDS, role: { lua: 'word' } }, field),
]);

/** The tables that the scripts of a shard begin with. */
export function luaTables(): string {
  const { code: _, ...stored } = ROOM_FIELDS;
  const ofType = (lua: LuaType) => Object.entries(stored).flatMap(([name, field]) => (field.lua === lua ? [name] : []));
  return [
    `local FIELDS = ${luaList(Object.keys(stored))}`,
    `local NUMBERS = ${luaRecord(ofType('number').map((name) => [name, true]))}`,
    `local BOOLEANS = ${luaRecord(ofType('boolean').map((name) => [name, true]))}`,
    `local ROOM_JSON = ${luaList(ROOM_JSON.flat())}`,
    `local MEMBER_JSON = ${luaList(MEMBER_JSON.flat())}`,
    `local FEED_TYPE_OF = ${luaRecord(Object.entries(FEED_TYPE_OF))}`,
    // Words in one string: a table would be made anew by every run of every script, and hardly any needs it.
    `local DEFERRED = ' ${[...DEFERRED].join(' ')} '`,
    `local DOUBTFUL = ' ${[...DOUBTFUL].join(' ')} '`,
    `local LEAP, SEQ_LEAP, RECONNECTED_MS = ${LEAP}, ${SEQ_LEAP}, ${RECONNECTED_MS}`,
    '',
  ].join('\n');
}

function schemasOf<Fields extends Readonly<Record<string, Field>>>(fields: Fields) {
  const schemas = Object.entries(fields).map(([name, { schema }]) => [name, schema]);
  // The entries of a mapped object keep their names; the compiler does not follow that through the list.
  return Object.fromEntries(schemas) as { [Name in keyof Fields]: Fields[Name]['schema'] };
}

function typeOf(fields: Readonly<Record<string, Pick<Field, 'lua'>>>, name: string): LuaType {
  const field = fields[name];
  if (field === undefined) throw new Error(`the field ${name} of the protocol is not stored`);
  return field.lua;
}

const luaList = (words: readonly string[]): string => `{ ${words.map((word) => `'${word}'`).join(', ')} }`;
const luaRecord = (entries: readonly (readonly [string, string | true])[]): string =>
  `{ ${entries.map(([name, value]) => `['${name}'] = ${value === true ? 'true' : `'${value}'`}`).join(', ')} }`;
