/**
 * The tick of one shard: renews the seats whose connections the asking node holds, then reaps what is due. Any node may
 * tick any shard at any time: what one has reaped, the next does not find.
 */
import type { RoomCode } from '../protocol/ids.ts';
import { locate } from './authority.ts';
import type { SeatKey, Tick } from './commands.ts';
import type { Evicted, RoomEvent } from './outcomes.ts';
import { deadline, type Room, type Seat } from './room.ts';
import { type Course, end, replaceSeat, seatOf, vacate } from './seats.ts';
import type { Shard, Writes } from './shard.ts';
import { cooled, figures } from './stock.ts';
import { type Circumstances, renewed, type Step } from './transitions.ts';

export function tick(shard: Shard, command: Tick, circumstances: Circumstances): Step<Tick> {
  const state = draft(shard, circumstances);
  const lost = command.held.filter((key) => !renewHeld(state, key, circumstances));
  const lapsed = lapsedSeats(state, circumstances.now);
  for (const { code, seat } of lapsed.slice(0, command.limit)) reapSeat(state, code, seat, circumstances);
  const ended = endedRooms(state, circumstances);
  for (const { room, reason } of ended.slice(0, command.limit)) state.settle(room.code, end(room, reason));
  const cold = cooled(state.cooling, circumstances.now);
  for (const code of cold.slice(0, command.limit)) state.cooling.delete(code);
  return {
    outcome: {
      ok: true,
      events: state.events,
      evicted: state.evicted,
      lost,
      revs: revsOf(state, command.held),
      more: [lapsed, ended, cold].some((due) => due.length > command.limit),
      stock: figures(state, circumstances.now),
    },
    writes: state.writes(circumstances.now),
  };
}

interface Draft extends Shard {
  readonly rooms: Map<RoomCode, Room>;
  readonly cooling: Map<RoomCode, number>;
  readonly events: RoomEvent[];
  readonly evicted: Evicted[];
  settle(code: RoomCode, course: Course): void;
  put(room: Room): void;
  writes(now: number): Writes;
}

/** A copy of the shard that later steps of the same tick read what earlier ones wrote in. */
function draft(shard: Shard, { now, policy }: Circumstances): Draft {
  const rooms = new Map(shard.rooms);
  const cooling = new Map(shard.cooling);
  const touched = new Set<RoomCode>();
  const events: RoomEvent[] = [];
  const evicted: Evicted[] = [];
  const put = (room: Room) => {
    touched.add(room.code);
    rooms.set(room.code, room);
  };
  return {
    rooms,
    cooling,
    receipts: shard.receipts,
    events,
    evicted,
    put,
    settle(code, course) {
      events.push(...course.events);
      evicted.push(...course.evicted);
      if (course.room !== null) return put(course.room);
      touched.add(code);
      rooms.delete(code);
      cooling.set(code, now + policy.cooldownMs);
    },
    writes: (instant) => ({
      rooms: new Map([...touched].map((code) => [code, rooms.get(code) ?? null])),
      cooling: difference(shard.cooling, cooling),
      receipts: new Map([...shard.receipts].filter(([, { until }]) => until <= instant).map(([key]) => [key, null])),
    }),
  };
}

function renewHeld(state: Draft, key: SeatKey, { now, policy }: Circumstances): boolean {
  const held = locate(state, key);
  if (!held.ok) return false;
  state.put({ ...held.room, seats: replaceSeat(held.room, renewed(held.seat, now, policy)) });
  return true;
}

function reapSeat(state: Draft, code: RoomCode, lapsed: Seat, { now, policy }: Circumstances): void {
  const room = state.rooms.get(code);
  const seat = room && seatOf(room, lapsed.userId);
  // The room may have ended a moment ago, with its host.
  if (room && seat) state.settle(code, vacate(room, seat, 'lost', now, policy));
}

/** The order is the one of a sorted set: by lease, then by `<code> <userId>`. */
function lapsedSeats(state: Draft, now: number): { code: RoomCode; seat: Seat }[] {
  return [...state.rooms.values()]
    .flatMap(({ code, seats }) => seats.filter((seat) => seat.leaseUntil <= now).map((seat) => ({ code, seat })))
    .sort((a, b) => a.seat.leaseUntil - b.seat.leaseUntil || (name(a) < name(b) ? -1 : 1));
}

const name = ({ code, seat }: { code: RoomCode; seat: Seat }) => `${code} ${seat.userId}`;

function endedRooms(state: Draft, { now, policy }: Circumstances) {
  return [...state.rooms.values()]
    .map((room) => ({ room, ...deadline(room, policy) }))
    .filter(({ at }) => at <= now)
    .sort((a, b) => a.at - b.at || (a.room.code < b.room.code ? -1 : 1));
}

function revsOf(state: Draft, held: readonly SeatKey[]) {
  return [...new Map(held.map((key) => [key.code, key])).values()].flatMap(({ code, ref }) => {
    const room = state.rooms.get(code);
    return room?.ref === ref ? [{ code, ref, rev: room.rev }] : [];
  });
}

function difference(before: ReadonlyMap<RoomCode, number>, after: ReadonlyMap<RoomCode, number>) {
  const writes = new Map<RoomCode, number | null>();
  for (const code of before.keys()) if (!after.has(code)) writes.set(code, null);
  for (const [code, until] of after) if (before.get(code) !== until) writes.set(code, until);
  return writes;
}
