/**
 * A node restores a room of an earlier epoch from its copy. Every node that holds a member restores its own part, in any
 * order and at any time: the parts add up to the same room.
 */
import type { RoomCode, UserId } from '../protocol/ids.ts';
import type { Restore, RestoredSeat } from './commands.ts';
import { leaped, restoresUntil, SEQ_LEAP } from './epoch.ts';
import { allocate, shardOf } from './pool.ts';
import { longestCooled } from './pool-stats.ts';
import { type Policy, type Room, type Seat, toSnapshot } from './room.ts';
import { seatOf } from './seats.ts';
import type { Shard } from './shard.ts';
import { MAX_BANS, type RuleContext, type RuleResult } from './transitions.ts';

export function restore(shard: Shard, command: Restore, context: RuleContext): RuleResult<Restore> {
  const { now, policy } = context;
  const { epoch } = shard.meta;
  const movedTo = shard.moved.get(command.ref);
  const isOver = command.room.expiresAt <= now || movedTo === null;
  if (command.sinceEpoch === epoch.number || restoresUntil(epoch, policy) < now || isOver) {
    return { outcome: { ok: false, reason: 'CODE_EXPIRED' }, writes: {} };
  }
  const there = shard.rooms.get(movedTo ?? command.code);
  if (there?.ref === command.ref) return restored(shard, merge(there, command, now, policy));
  const code = codeFor(shard, command, context);
  if (code === undefined) return { outcome: { ok: false, reason: 'POOL_EXHAUSTED' }, writes: {} };
  const { outcome, writes } = restored(shard, merge(fromCopy(command, code, epoch.number, now), command, now, policy));
  const moved = code === command.code ? {} : { moved: new Map([[command.ref, code]]) };
  return { outcome, writes: { ...writes, cooling: new Map([[code, null]]), ...moved } };
}

/** Its own code unless another room has it, even if it is said to cool: that is from before this room. */
function codeFor(shard: Shard, { code, candidates, searchFrom }: Restore, { now, pool }: RuleContext) {
  if (!shard.rooms.has(code)) return code;
  const isTaken = (other: RoomCode) => shard.rooms.has(other) || shard.cooling.has(other);
  return allocate(pool, shardOf(code), isTaken, candidates, searchFrom) ?? longestCooled(shard, now);
}

function fromCopy({ ref, room, sinceEpoch }: Restore, code: RoomCode, epoch: number, now: number): Room {
  const rev = leaped(room.rev, sinceEpoch, epoch);
  const nextSeq = room.nextSeq + SEQ_LEAP;
  return { ...room, nextSeq, rev, leapedTo: rev, epoch, code, ref, lastActive: now, emptySince: now, seats: [] };
}

/** Whatever this changes, the revision grows beyond all that are known: nobody has had that state yet. */
function merge(room: Room, { room: copy, seats: own, sinceEpoch }: Restore, now: number, policy: Policy): Room {
  const copyRev = leaped(copy.rev, sinceEpoch, room.epoch);
  const isNewer = room.leapedTo !== null && copyRev > room.leapedTo;
  const settings = isNewer ? withSettings(room, copy, copyRev) : room;
  const banned = union(room.banned, copy.banned);
  let next: Room = { ...settings, banned, nextSeq: Math.max(room.nextSeq, copy.nextSeq) };
  let isChanged = isNewer || banned.length > room.banned.length;
  for (const seat of own) {
    const stored = seatOf(next, seat.userId);
    if (banned.includes(seat.userId) || (stored !== undefined && stored.session > seat.session)) continue;
    isChanged ||= stored === undefined || isAnother(stored, seat);
    next = putSeat(next, seat, now + (seat.state === 'present' ? policy.leaseMs : policy.graceMs));
  }
  const [first] = next.seats;
  // A host that no node has restored yet stays the host until the shard has recovered.
  const hostId = next.hostId ?? first?.userId ?? null;
  const emptySince = first === undefined ? (room.emptySince ?? now) : null;
  return { ...next, hostId, emptySince, rev: isChanged ? Math.max(room.rev, copyRev) + 1 : room.rev };
}

/** The copy with the greatest revision has the settings that were valid last. */
function withSettings(room: Room, copy: Restore['room'], copyRev: number): Room {
  const { metadata: _, ...others } = room;
  return { ...others, ...copy, rev: room.rev, leapedTo: copyRev };
}

function union(some: readonly UserId[], others: readonly UserId[]): readonly UserId[] {
  return [...some, ...others.filter((userId) => !some.includes(userId))].slice(-MAX_BANS);
}

const isAnother = (stored: Seat, seat: RestoredSeat): boolean =>
  (['session', 'state', 'seq', 'name', 'mediaType', 'metadata'] as const).some(
    (field) => stored[field] !== seat[field],
  );

/** The place of the seat in the order of joining stays, unless another member has it by now. */
function putSeat(room: Room, seat: RestoredSeat, leaseUntil: number): Room {
  const others = room.seats.filter(({ userId }) => userId !== seat.userId);
  const isTaken = others.some(({ seq }) => seq === seat.seq);
  const seq = isTaken ? room.nextSeq : seat.seq;
  return {
    ...room,
    nextSeq: Math.max(room.nextSeq, seq + 1),
    seats: [...others, { ...seat, seq, leaseUntil }].sort((a, b) => a.seq - b.seq),
  };
}

/** The shard is settled once more, because a host may be missing. */
function restored({ meta: { epoch } }: Shard, room: Room): RuleResult<Restore> {
  return {
    outcome: { ok: true, room: toSnapshot(room), events: [], epoch: epoch.number },
    writes: { rooms: new Map([[room.code, room]]), meta: { epoch: { ...epoch, settled: false } } },
  };
}
