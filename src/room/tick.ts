/**
 * The tick of one shard: renews the seats whose connections the asking node holds, then reaps expired leases, rooms and
 * cooled codes. Any node may tick any shard at any time: what one node has reaped, the next does not find.
 */
import type { RoomCode } from '../protocol/ids.ts';
import { findSeat } from './authority.ts';
import type { SeatKey, Tick } from './commands.ts';
import { type Epoch, RECONNECTED_MS, recoveringFor } from './epoch.ts';
import type { Evicted, RoomEvent } from './outcomes.ts';
import { cooled, poolStats } from './pool-stats.ts';
import { deadline, type Room, type Seat, toCopy } from './room.ts';
import { endRoom, handOnHost, removeSeat, replaceSeat, seatOf, type Transition } from './seats.ts';
import type { Shard, ShardMeta, Writes } from './shard.ts';
import { type RuleContext, type RuleResult, renewed } from './transitions.ts';

export function tick(shard: Shard, command: Tick, context: RuleContext): RuleResult<Tick> {
  const { now } = context;
  const state = draft(shard, context);
  const lost = command.held.filter((key) => !renewHeld(state, key, context));
  const meta = metaAfter(shard.meta, command, lost.length === 0, context);
  const recoveringMs = recoveringFor(meta.epoch, now);
  const more = recoveringMs === 0 && settleAndReap(state, meta, command.limit, context);
  return {
    outcome: {
      ok: true,
      events: state.events,
      evicted: state.evicted,
      lost: recoveringMs > 0 || isBehind(meta.epoch, command) ? [] : lost,
      revs: revsOf(state, command.held),
      epoch: meta.epoch.number,
      recoveringMs,
      infos: recoveringMs > 0 ? [] : infosOf(state, command.rooms),
      more,
      poolStats: poolStats(state, now),
    },
    writes: { ...state.writes(now), meta: { ...meta, epoch: { ...meta.epoch, settled: recoveringMs === 0 } } },
  };
}

/** When nobody has ticked the shard for long, members could not renew their leases: they get the time of one to do so. */
function metaAfter(
  { epoch, tickedAt, noReapBefore }: ShardMeta,
  command: Tick,
  holdsAll: boolean,
  { now, policy }: RuleContext,
): ShardMeta {
  const { everyMs, sole } = command;
  const wasAway = tickedAt !== null && now - tickedAt > 2 * everyMs;
  const hasRecovered = sole && holdsAll && recoveringFor(epoch, now) > 0;
  return {
    epoch: hasRecovered ? { ...epoch, recoverUntil: now } : waitedFor(epoch, command, now, policy),
    tickedAt: now,
    noReapBefore: wasAway ? now + policy.leaseMs : noReapBefore,
  };
}

/** The node has yet to restore what it holds: its seats are missing, not lost. */
const isBehind = ({ number }: Epoch, { knownEpoch }: Tick): boolean =>
  knownEpoch !== undefined && knownEpoch !== number;

/** Until all connected nodes have restored what they hold. One that comes late is waited for after all. */
function waitedFor(epoch: Epoch, command: Tick, now: number, { recoveryMs }: RuleContext['policy']): Epoch {
  const { knownEpoch, restored } = command;
  if (recoveringFor(epoch, now) === 0) return epoch;
  if (isBehind(epoch, command)) return { ...epoch, recoverUntil: epoch.since + recoveryMs };
  if (knownEpoch === undefined || restored === undefined) return epoch;
  const restoredBy = [...new Set([...epoch.restoredBy, restored.by])];
  if (!restored.connected.every((node) => restoredBy.includes(node))) return { ...epoch, restoredBy };
  const recoverUntil = Math.min(epoch.recoverUntil, Math.max(now, epoch.since + RECONNECTED_MS));
  return { ...epoch, restoredBy, recoverUntil };
}

/** @returns whether something due is left for the next step */
function settleAndReap(state: Draft, { epoch, noReapBefore }: ShardMeta, limit: number, context: RuleContext): boolean {
  const { now } = context;
  if (!epoch.settled) settle(state, epoch, context);
  const lapsed = now < noReapBefore ? [] : lapsedSeats(state, now);
  for (const { code, seat } of lapsed.slice(0, limit)) reapSeat(state, code, seat, context);
  const ended = now < noReapBefore ? [] : endedRooms(state, context);
  for (const { room, reason } of ended.slice(0, limit)) state.apply(room.code, endRoom(room, reason));
  const cooledCodes = cooled(state.cooling, now);
  for (const code of cooledCodes.slice(0, limit)) state.cooling.delete(code);
  return [lapsed, ended, cooledCodes].some((due) => due.length > limit);
}

/**
 * Once, when the shard has recovered. A present seat that has not been renewed in this epoch belongs to nobody, or to a
 * node that is away: it is kept for the grace. A host that nobody has restored is succeeded.
 */
function settle(state: Draft, { since }: Epoch, { now, policy }: RuleContext): void {
  const kept = now + policy.graceMs;
  const isUnconfirmed = ({ state: of, leaseUntil }: Seat) =>
    of === 'present' && leaseUntil > kept && leaseUntil < since + policy.leaseMs;
  for (const room of [...state.rooms.values()].sort((a, b) => (a.code < b.code ? -1 : 1))) {
    const seats = room.seats.map((seat) => (isUnconfirmed(seat) ? { ...seat, leaseUntil: kept } : seat));
    if (room.seats.some(isUnconfirmed)) state.put({ ...room, seats });
    const isHostless = room.hostId !== null && seatOf(room, room.hostId) === undefined;
    if (isHostless) state.apply(room.code, { ...handOnHost({ ...room, seats }), evicted: [] });
  }
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
    moved: shard.moved,
    meta: shard.meta,
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

function infosOf(state: Draft, copies: Tick['rooms']) {
  return copies.flatMap(({ code, ref, rev }) => {
    const room = state.rooms.get(code);
    return room?.ref === ref && room.rev > rev ? [toCopy(room)] : [];
  });
}

function difference(before: ReadonlyMap<RoomCode, number>, after: ReadonlyMap<RoomCode, number>) {
  const writes = new Map<RoomCode, number | null>();
  for (const code of before.keys()) if (!after.has(code)) writes.set(code, null);
  for (const [code, until] of after) if (before.get(code) !== until) writes.set(code, until);
  return writes;
}
