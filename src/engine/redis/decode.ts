/** What the scripts answer, checked and brought into the forms that every engine gives. */
import { z } from 'zod';
import type { NodeId, UserId } from '../../protocol/ids.ts';
import { CLOSE_REASONS, LEAVE_REASONS } from '../../protocol/messages.ts';
import {
  access,
  duration,
  instant,
  revision,
  roomCode,
  roomRef,
  sessionNumber,
  userId,
} from '../../protocol/snapshot.ts';
import type { Command, Create, Outcome, Tick } from '../../room/commands.ts';
import type { ListedRoom, RoomEvent } from '../../room/outcomes.ts';
import { type Policy, type Room, type Seat, toInfo, toMember, toSnapshot } from '../../room/room.ts';
import { newRoom } from '../../room/transitions.ts';

/**
 * The outcome that a script's reply tells of.
 *
 * @throws when the reply is not one: the scripts and this file have come apart.
 */
export function decode<C extends Command>(command: C, reply: unknown, policy: Policy): Outcome<C> {
  const told: unknown = JSON.parse(z.string().parse(reply));
  const outcome = read(command, told, policy);
  // The outcome is the one of this command's kind: the table is keyed by it, and checked against the kinds below.
  return outcome as Outcome<C>;
}

function read(command: Command, told: unknown, policy: Policy) {
  if (command.kind === 'tick') return ticked(command, told);
  if (command.kind === 'create') return created(command, told, policy);
  return REPLIES[command.kind].parse(told);
}

// A field that is not there is null in the scripts' eyes; a missing list is a fault.
const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().default(null);

// Nodes are named by this server alone.
const nodeId = z.string().transform((text) => text as NodeId);

// As text with spaces between: ids hold none, and only ids are ever put into it.
const idList = z.string().transform((text) => text.split(' ').filter(Boolean) as UserId[]);

const seat = z.object({
  userId,
  name: orNull(z.string()),
  mediaType: z.string().exactOptional(),
  metadata: z.string().exactOptional(),
  seq: z.int().positive(),
  joinedAt: instant,
  state: z.enum(['present', 'away']),
  session: sessionNumber,
  nodeId,
  leaseUntil: instant,
}) satisfies z.ZodType<Seat>;

const room = z.object({
  code: roomCode,
  ref: roomRef,
  rev: revision,
  name: orNull(z.string()),
  type: z.string(),
  maxUsers: z.int(),
  access,
  locked: z.boolean(),
  hostId: orNull(userId),
  createdBy: orNull(userId),
  createdAt: instant,
  expiresAt: instant,
  lastActive: instant,
  emptySince: orNull(instant),
  nextSeq: z.int().positive(),
  metadata: z.string().exactOptional(),
  banned: idList.default([]),
}) satisfies z.ZodType<Omit<Room, 'seats'>>;

const head = { code: roomCode, ref: roomRef, rev: revision };
const aboutSeat = { ...head, seat, hostId: orNull(userId) };
const rawEvent = z.discriminatedUnion('name', [
  z.object({ name: z.enum(['member:joined', 'member:back', 'member:updated']), ...aboutSeat }),
  z.object({ name: z.literal('member:left'), ...head, userId, reason: z.enum(LEAVE_REASONS) }),
  z.object({ name: z.literal('member:away'), ...head, userId }),
  z.object({ name: z.literal('host:changed'), ...head, hostId: orNull(userId) }),
  z.object({ name: z.literal('room:updated'), ...head, room }),
  z.object({ name: z.literal('room:closed'), ...head, reason: z.enum(CLOSE_REASONS), leaving: idList }),
]);

const events = z.array(
  rawEvent.transform((raw): RoomEvent => {
    const { code, ref, rev } = raw;
    switch (raw.name) {
      case 'member:joined':
      case 'member:back':
      case 'member:updated':
        return { name: raw.name, body: { code, ref, rev, member: toMember(raw.seat, raw.hostId) } };
      case 'room:updated':
        return { name: raw.name, body: { code, ref, rev, room: toInfo({ ...raw.room, seats: [] }) } };
      case 'room:closed': {
        const { name, leaving, ...body } = raw;
        return { name, body, leaving };
      }
      default: {
        const { name, ...body } = raw;
        // The schema has paired the name with its body; the compiler does not follow that through the spread.
        return { name, body } as RoomEvent;
      }
    }
  }),
);

/** A session that has lost its seat: told by scripts, and by nodes to each other. */
export const evictedSession = z.object({
  code: roomCode,
  ref: roomRef,
  userId,
  session: sessionNumber,
  nodeId,
  reason: z.enum([...LEAVE_REASONS, ...CLOSE_REASONS]),
});
const evicted = z.array(evictedSession);

const ok = z.literal(true);
const refused = <const Reason extends string>(...reasons: readonly [Reason, ...Reason[]]) =>
  z.object({ ok: z.literal(false), reason: z.enum(reasons) });
const seatRefused = refused('CODE_EXPIRED', 'NOT_IN_ROOM', 'SESSION_EXPIRED');

const whole = { ok, room, seats: z.array(seat) };
const listed = (raw: { room: Omit<Room, 'seats'>; memberCount: number }): ListedRoom => ({
  ...toInfo({ ...raw.room, seats: [] }),
  memberCount: raw.memberCount,
});
type Whole = { room: Omit<Room, 'seats'>; seats: readonly Seat[] };
const snapshotOf = (raw: Whole) => toSnapshot({ ...raw.room, seats: raw.seats.toSorted((a, b) => a.seq - b.seq) });

const placed = z
  .object({ ...whole, events })
  .transform((raw) => ({ ok: raw.ok, room: snapshotOf(raw), events: raw.events }));
const moved = z.object({ ok, rev: revision, events, evicted });
const figures = { occupied: z.int(), cooling: z.int(), nextFreeInMs: duration.nullable() };
const place = z.object({ code: roomCode, ref: roomRef });

const REPLIES = {
  join: z.union([placed, refused('CODE_EXPIRED', 'BANNED', 'ROOM_LOCKED', 'ROOM_FULL', 'SESSION_EXPIRED')]),
  leave: z.union([moved, seatRefused]),
  suspend: z.union([moved, seatRefused]),
  resume: z.union([placed, seatRefused]),
  renew: z.union([z.object({ ok, rev: revision, now: instant }), seatRefused]),
  update: z.union([placed, seatRefused, refused('FORBIDDEN')]),
  kick: z.union([moved, seatRefused, refused('FORBIDDEN', 'PEER_NOT_FOUND', 'CONFLICT')]),
  close: z.union([moved, seatRefused, refused('FORBIDDEN')]),
  read: z.union([
    z.object(whole).transform((raw) => ({ ok: raw.ok, room: snapshotOf(raw) })),
    refused('ROOM_NOT_FOUND', 'CODE_EXPIRED', 'BANNED', 'ROOM_LOCKED', 'ROOM_FULL'),
  ]),
  list: z.object({ ok, rooms: z.array(z.object({ room, memberCount: z.int() }).transform(listed)), more: z.boolean() }),
  stats: z.object({ ok, ...figures }),
  arrive: z.object({
    ok,
    session: sessionNumber,
    connectedAt: instant,
    previous: z.object({ session: sessionNumber, nodeId, online: z.boolean() }).nullable(),
    seat: place.nullable(),
  }),
  touch: z.union([z.object({ ok, now: instant }), refused('SESSION_EXPIRED')]),
  depart: z.union([z.object({ ok }), refused('SESSION_EXPIRED')]),
} as const satisfies { [Kind in Exclude<Command['kind'], 'create' | 'tick'>]: z.ZodType<OutcomeOf<Kind>> };

type OutcomeOf<Kind extends Command['kind']> = Outcome<Extract<Command, { kind: Kind }>>;

const createReply = z.union([
  z.object({ ok, code: roomCode, now: instant }),
  z.object({ ok: z.literal(false), reason: z.literal('FULL'), nextFreeInMs: duration.nullable() }),
  z.object({ ok: z.literal(false), reason: z.literal('REPLAYED'), code: roomCode, ref: roomRef }),
]);

/** The rules say what the room is like: the script tells only what it has decided. */
function created(command: Create, told: unknown, policy: Policy): Outcome<Create> {
  const reply = createReply.parse(told);
  if (!reply.ok) return reply;
  return { ok: true, room: toSnapshot(newRoom(command, reply.code, reply.now, policy)), events: [] };
}

const tickReply = z.object({
  ok,
  events,
  evicted,
  /** Places in `held`, from 0. */
  lost: z.array(z.int().nonnegative()),
  revs: z.array(z.object(head)),
  more: z.boolean(),
  poolStats: z.object(figures),
});

function ticked(command: Tick, told: unknown): Outcome<Tick> {
  const reply = tickReply.parse(told);
  const lost = new Set(reply.lost);
  return { ...reply, lost: command.held.filter((_, place) => lost.has(place)) };
}
