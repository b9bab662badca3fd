/**
 * The tick of one shard: renews the seats whose connections the asking node holds, then reaps expired leases, rooms and
 * cooled codes. Any node may tick any shard at any time: what one node has reaped, the next does not find.
 */
import type { RoomCode } from '../protocol/ids.ts';
import { findSeat } from './authority.ts';
import type { SeatKey, Tick } from './commands.ts';
import type { Evicted, RoomEvent } from './outcomes.ts';
import { cooled, poolStats } from './pool-stats.ts';
import { deadline, type Room, type Seat } from './room.ts';
import { endRoom, removeSeat, replaceSeat, seatOf, type Transition } from './seats.ts';
import type { Shard, Writes } from './shard.ts';
import { type RuleContext, type RuleResult, renewed } from './transitions.ts';

export function tick(shard: Shard, command: Tick, context: RuleContext): RuleResult<Tick> {
  const state = draft(shard, context);
  const lost = command.held.filter((key) => !renewHeld(state, key, context));
  const lapsed = lapsedSeats(state, context.now);
  for (const { code, seat } of lapsed.slice(0, command.limit)) reapSeat(state, code, seat, context);
  const ended = endedRooms(state, context);
  for (const { room, reason } of ended.slice(0, command.limit)) state.apply(room.code, endRoom(room, reason));
  const cooledCodes = cooled(state.cooling, context.now);
  for (const code of cooledCodes.slice(0, command.limit)) state.cooling.delete(code);
  return {
    outcome: {
      ok: true,
      events: state.events,
      evicted: state.evicted,
      lost,
      revs: revsOf(state, command.held),
      more: [lapsed, ended, cooledCodes].some((due) => due.length > command.limit),
      poolStats: poolStats(state, context.now),
    },
    writes: state.writes(context.now),
  };
}

interface Draft extends Shard {
  readonly rooms: Map<RoomCode, Room>;
  readonly cooling: Map<RoomCode, number>;
  readonly events: RoomEvent[];
  readonly evicted: Evicted[];
  apply(code: RoomCode, transition: Transition): void;
  put(room: Room): void;
  writes(now: number): Writes;
}

/** A working copy of the shard: later steps of a tick see the writes of earlier ones. */
function draft(shard: Shard, { now, policy }: RuleContext): Draft {
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
    idempotency: shard.idempotency,
    events,
    evicted,
    put,
    apply(code, transition) {
      events.push(...transition.events);
      evicted.push(...transition.evicted);
      if (transition.room !== null) return put(transition.room);
      touched.add(code);
      rooms.delete(code);
      cooling.set(code, now + policy.cooldownMs);
    },
    writes: (instant) => ({
      rooms: new Map([...touched].map((code) => [code, rooms.get(code) ?? null])),
      cooling: difference(shard.cooling, cooling),
      idempotency: new Map(
        [...shard.idempotency].filter(([, { until }]) => until <= instant).map(([key]) => [key, null]),
      ),
    }),
  };
}

function renewHeld(state: Draft, key: SeatKey, { now, policy }: RuleContext): boolean {
  const found = findSeat(state, key);
  if (!found.ok) return false;
  state.put({ ...found.room, seats: replaceSeat(found.room, renewed(found.seat, now, policy)) });
  return true;
}

function reapSeat(state: Draft, code: RoomCode, lapsed: Seat, { now, policy }: RuleContext): void {
  const room = state.rooms.get(code);
  const seat = room && seatOf(room, lapsed.userId);
  // The room may have ended earlier in this tick, together with its host.
  if (room && seat) state.apply(code, removeSeat(room, seat, 'lost', now, policy));
}

/** In the order of the sorted set in Redis: by lease, then by `<code> <userId>`. */
function lapsedSeats(state: Draft, now: number): { code: RoomCode; seat: Seat }[] {
  return [...state.rooms.values()]
    .flatMap(({ code, seats }) => seats.filter((seat) => seat.leaseUntil <= now).map((seat) => ({ code, seat })))
    .sort((a, b) => a.seat.leaseUntil - b.seat.leaseUntil || (leaseName(a) < leaseName(b) ? -1 : 1));
}

const leaseName = ({ code, seat }: { code: RoomCode; seat: Seat }) => `${code} ${seat.userId}`;

function endedRooms(state: Draft, { now, policy }: RuleContext) {
  return [...state.rooms.values()]
    .map((room) => ({ room, ...deadline(room, policy) }))
    .filter(({ at }) => at <= now)
    .sort((a, b) => a.at - b.at || (a.room.code < b.room.code ? -1 : 1));
}

function revsOf(state: Draft, held: readonly SeatKey[]) {
  return [...new Map(held.map((key) => [key.code, key])).values()].flatMap(({ code, ref }) => {
    const room = state.rooms.get(code);
    return room?.ref === ref ? [{ code, ref, rev: room.rev, seats: room.seats.length }] : [];
  });
}

function difference(before: ReadonlyMap<RoomCode, number>, after: ReadonlyMap<RoomCode, number>) {
  const writes = new Map<RoomCode, number | null>();
  for (const code of before.keys()) if (!after.has(code)) writes.set(code, null);
  for (const [code, until] of after) if (before.get(code) !== until) writes.set(code, until);
  return writes;
}
