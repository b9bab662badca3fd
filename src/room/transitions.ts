/**
 * The rules of the commands, and their specification. Each function takes a shard's state, a command and an instant, and
 * gives the outcome and the next state: no clock, no chance, no I/O. The memory engine calls these functions; every Lua
 * script is a translation of one.
 */
import type { RoomCode, UserId } from '../protocol/ids.ts';
import { authorize, findRoom, findSeat, findSeatOfAnySession } from './authority.ts';
import type {
  Close,
  Create,
  Find,
  Join,
  Kick,
  Leave,
  Outcome,
  Read,
  Renew,
  Resolve,
  Resume,
  SeatKey,
  ShardCommand,
  Stats,
  Suspend,
  Update,
} from './commands.ts';
import { LEAP } from './epoch.ts';
import type { JoinRefusal, RoomEvent, SnapshotOutcome } from './outcomes.ts';
import { allocate, type Pool } from './pool.ts';
import { longestCooled, nextFreeIn, poolStats } from './pool-stats.ts';
import { type Policy, type Room, type Seat, toInfo, toMember, toSnapshot } from './room.ts';
import {
  addSeat,
  endRoom,
  event,
  moveSeatToSession,
  nextRevision,
  removeSeat,
  replaceSeat,
  seatOf,
  suspendSeat,
  type Transition,
} from './seats.ts';
import type { Shard, Writes } from './shard.ts';

/** The instant, and the settings of the server. */
export interface RuleContext {
  readonly now: number;
  readonly policy: Policy;
  readonly pool: Pool;
}

export interface RuleResult<C extends ShardCommand> {
  readonly outcome: Outcome<C>;
  readonly writes: Writes;
}

/** Bounds a room's record: beyond that many bans the oldest is dropped. */
export const MAX_BANS = 200;

export function create(shard: Shard, command: Create, { now, policy, pool }: RuleContext): RuleResult<Create> {
  const { idempotencyKey } = command;
  const earlier = idempotencyKey === undefined ? undefined : shard.idempotency.get(idempotencyKey);
  if (earlier !== undefined && earlier.until > now) {
    return refuse({ ok: false, reason: 'REPLAYED', code: earlier.code, ref: earlier.ref });
  }
  const isTaken = (code: RoomCode) => shard.rooms.has(code) || shard.cooling.has(code);
  const code =
    allocate(pool, command.shard, isTaken, command.candidates, command.searchFrom) ?? longestCooled(shard, now);
  if (code === undefined) return refuse({ ok: false, reason: 'FULL', nextFreeInMs: nextFreeIn(shard, now) });

  const room = { ...newRoom(command, code, now, policy), epoch: shard.meta.epoch.number };
  return {
    // No events: the room has no other members yet that could be told of the host's joining.
    outcome: { ok: true, room: toSnapshot(room), events: [] },
    writes: {
      rooms: new Map([[code, room]]),
      cooling: new Map([[code, null]]),
      ...(idempotencyKey !== undefined && {
        idempotency: new Map([[idempotencyKey, { code, ref: command.ref, until: now + policy.idempotencyMs }]]),
      }),
    },
  };
}

/** The room that a create makes, with its host in it: all but its epoch follows from the command, the code and the instant. */
export function newRoom(command: Create, code: RoomCode, now: number, policy: Policy): Room {
  const empty = emptyRoom(command, code, now, policy);
  return command.by === undefined ? empty : (addSeat(empty, command.by, now, policy).room ?? empty);
}

/** The room that a create makes, before its host has joined. */
export function emptyRoom({ ref, by, settings }: Create, code: RoomCode, now: number, policy: Policy): Room {
  return {
    name: null,
    locked: false,
    ...settings,
    code,
    ref,
    rev: 0,
    hostId: by?.userId ?? null,
    createdBy: by?.userId ?? null,
    createdAt: now,
    expiresAt: now + policy.maxAgeMs,
    lastActive: now,
    emptySince: now,
    nextSeq: 1,
    banned: [],
    epoch: 0,
    leapedTo: null,
    seats: [],
  };
}

export function join(shard: Shard, command: Join, { now, policy }: RuleContext): RuleResult<Join> {
  const { by } = command;
  const room = shard.rooms.get(command.code);
  if (room?.ref !== command.ref) return refuse({ ok: false, reason: 'CODE_EXPIRED' });
  const reason = joinRefusal(room, by.userId);
  if (reason !== undefined) return refuse({ ok: false, reason });
  const seat = seatOf(room, by.userId);
  return seat === undefined
    ? snapshotResult(room, addSeat(room, by, now, policy))
    : resumeSeat(room, seat, by, now, policy);
}

function joinRefusal(room: Room, userId: UserId): JoinRefusal['reason'] | undefined {
  if (room.banned.includes(userId)) return 'BANNED';
  // A user that has a seat may always come back to it, even when the room is full or locked.
  if (seatOf(room, userId) !== undefined) return undefined;
  if (room.locked) return 'ROOM_LOCKED';
  return room.seats.length >= room.maxUsers ? 'ROOM_FULL' : undefined;
}

export function leave(shard: Shard, command: Leave, { now, policy }: RuleContext): RuleResult<Leave> {
  const found = findSeat(shard, command);
  if (!found.ok) return refuse(found);
  return revisionResult(
    found.room,
    removeSeat({ ...found.room, lastActive: now }, found.seat, 'left', now, policy),
    now,
    policy,
  );
}

export function suspend(shard: Shard, command: Suspend, { now, policy }: RuleContext): RuleResult<Suspend> {
  const found = findSeat(shard, command);
  if (!found.ok) return refuse(found);
  const { room, seat } = found;
  if (seat.state === 'away') return revisionResult(room, { room, events: [], evicted: [] }, now, policy);
  return revisionResult(room, { ...suspendSeat(room, seat, now, policy), evicted: [] }, now, policy);
}

export function resume(shard: Shard, command: Resume, { now, policy }: RuleContext): RuleResult<Resume> {
  const found = findSeatOfAnySession(shard, command);
  if (!found.ok) return refuse(found);
  return resumeSeat(found.room, found.seat, { session: command.session, nodeId: command.nodeId }, now, policy);
}

export function renew(shard: Shard, command: Renew, { now, policy }: RuleContext): RuleResult<Renew> {
  const found = findSeat(shard, command);
  if (!found.ok) return refuse(found);
  const room: Room = {
    ...found.room,
    seats: replaceSeat(found.room, renewed(found.seat, now, policy)),
    lastActive: now,
  };
  return {
    outcome: { ok: true, rev: room.rev, now },
    writes: { rooms: new Map([[room.code, room]]) },
  };
}

export function update(shard: Shard, command: Update, { now }: RuleContext): RuleResult<Update> {
  const { change } = command;
  if (change.subject === 'room') {
    const allowed = authorize(shard, command);
    if (!allowed.ok) return refuse(allowed);
    return resultOfUpdate(allowed.room, change.values, () => {
      const room = nextRevision(withOwnSettings(allowed.room), { ...change.values, lastActive: now });
      return { room, raised: event(room, 'room:updated', { room: toInfo(room) }) };
    });
  }
  // Only a SeatKey allows the change of a seat; the compiler does not infer the key from the nested change.
  const found = findSeat(shard, command as SeatKey);
  if (!found.ok) return refuse(found);
  return resultOfUpdate(found.room, change.values, () => {
    const seat = { ...found.seat, ...change.values };
    const room = nextRevision(found.room, { seats: replaceSeat(found.room, seat), lastActive: now });
    return { room, raised: event(room, 'member:updated', { member: toMember(seat, room.hostId) }) };
  });
}

/** Settings that were changed in this epoch are not replaced by those of a copy from before it. */
const withOwnSettings = (room: Room): Room => (room.leapedTo === null ? room : { ...room, leapedTo: room.rev + LEAP });

/** An empty change raises no revision. */
function resultOfUpdate(
  before: Room,
  changes: object,
  change: () => { room: Room; raised: RoomEvent },
): RuleResult<Update> {
  if (Object.keys(changes).length === 0) {
    return { outcome: { ok: true, room: toSnapshot(before), events: [] }, writes: {} };
  }
  const { room, raised } = change();
  return {
    outcome: { ok: true, room: toSnapshot(room), events: [raised] },
    writes: { rooms: new Map([[room.code, room]]) },
  };
}

export function kick(shard: Shard, command: Kick, { now, policy }: RuleContext): RuleResult<Kick> {
  const allowed = authorize(shard, command);
  if (!allowed.ok) return refuse(allowed);
  const { room } = allowed;
  if ('userId' in command && command.target === command.userId) return refuse({ ok: false, reason: 'CONFLICT' });
  const target = seatOf(room, command.target);
  if (target === undefined) return refuse({ ok: false, reason: 'PEER_NOT_FOUND' });
  const banned = command.ban ? [...room.banned, command.target].slice(-MAX_BANS) : room.banned;
  return revisionResult(
    room,
    removeSeat({ ...room, banned, lastActive: now }, target, 'kicked', now, policy),
    now,
    policy,
  );
}

export function close(shard: Shard, command: Close, { now, policy }: RuleContext): RuleResult<Close> {
  const allowed = authorize(shard, command);
  if (!allowed.ok) return refuse(allowed);
  return revisionResult(allowed.room, endRoom(allowed.room, 'closed'), now, policy);
}

export function read(shard: Shard, command: Read): RuleResult<Read> {
  const found = findRoom(shard, command);
  if (!found.ok) return refuse(found);
  const { room } = found;
  const { known } = command;
  if (known?.rev === room.rev && known.members.every((userId) => seatOf(room, userId) !== undefined)) {
    return refuse({ ok: false, reason: 'UNCHANGED' });
  }
  return { outcome: { ok: true, room: toSnapshot(room) }, writes: {} };
}

export function resolve(shard: Shard, command: Resolve): RuleResult<Resolve> {
  const found = findRoom(shard, command);
  if (!found.ok) return refuse(found);
  const { room } = found;
  const reason = command.joiner === undefined ? undefined : joinRefusal(room, command.joiner);
  if (reason !== undefined) return refuse({ ok: false, reason });
  return { outcome: { ok: true, ref: room.ref, rev: room.rev }, writes: {} };
}

export function find(shard: Shard, command: Find): RuleResult<Find> {
  const found = findSeatOfAnySession(shard, command);
  if (!found.ok) return refuse(found);
  return { outcome: { ok: true, state: found.seat.state }, writes: {} };
}

export function stats(shard: Shard, _command: Stats, { now }: RuleContext): RuleResult<Stats> {
  return { outcome: { ok: true, ...poolStats(shard, now) }, writes: {} };
}

/** Extends the lease of a present member only; an away one must resume. */
export const renewed = (seat: Seat, now: number, policy: Policy): Seat =>
  seat.state === 'present' ? { ...seat, leaseUntil: now + policy.leaseMs } : seat;

/** A room that has ended frees its code into cooling, in the same step. */
export function roomWrites(code: RoomCode, room: Room | null, now: number, policy: Policy): Writes {
  return {
    rooms: new Map([[code, room]]),
    ...(room === null && { cooling: new Map([[code, now + policy.cooldownMs]]) }),
  };
}

function resumeSeat(room: Room, seat: Seat, by: Pick<Join['by'], 'session' | 'nodeId'>, now: number, policy: Policy) {
  if (by.session < seat.session) return refuse({ ok: false, reason: 'SESSION_EXPIRED' });
  if (by.session === seat.session && seat.state === 'present') {
    return snapshotResult(room, { room: { ...room, lastActive: now }, events: [], evicted: [] });
  }
  return snapshotResult(room, moveSeatToSession(room, seat, { session: by.session, nodeId: by.nodeId }, now, policy));
}

function snapshotResult(before: Room, transition: Transition): { outcome: SnapshotOutcome; writes: Writes } {
  const { room, events } = transition;
  return {
    outcome: { ok: true, room: toSnapshot(room ?? before), events },
    writes: { rooms: new Map([[before.code, room]]) },
  };
}

function revisionResult(before: Room, transition: Transition, now: number, policy: Policy) {
  const { room, events, evicted } = transition;
  const rev = room?.rev ?? events.at(-1)?.body.rev ?? before.rev;
  return { outcome: { ok: true, rev, events, evicted } as const, writes: roomWrites(before.code, room, now, policy) };
}

const refuse = <const Refused>(outcome: Refused): { outcome: Refused; writes: Writes } => ({ outcome, writes: {} });
