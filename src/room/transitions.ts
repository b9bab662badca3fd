/**
 * The specification. Each function takes a shard's state, a command and an instant, and gives the outcome and the next
 * state: no clock, no chance, no I/O. The memory engine is these functions; every Lua script is a translation of one.
 */
import type { RoomCode, UserId } from '../protocol/ids.ts';
import { govern, locate, locateSeat } from './authority.ts';
import type {
  Close,
  Create,
  Join,
  Kick,
  Leave,
  Read,
  Renew,
  Resume,
  SeatKey,
  ShardCommand,
  Stock,
  Suspend,
  Update,
} from './commands.ts';
import type { JoinRefusal, Outcome, Placed, RoomEvent } from './outcomes.ts';
import { allocate, type Pool } from './pool.ts';
import { type Policy, type Room, type Seat, toInfo, toMember, toSnapshot } from './room.ts';
import { bump, type Course, end, event, replaceSeat, seatOf, sit, suspendSeat, takeOver, vacate } from './seats.ts';
import type { Shard, Writes } from './shard.ts';
import { figures, freesIn, longestCooled } from './stock.ts';

/** The instant and what does not change while a server runs. */
export interface Circumstances {
  readonly now: number;
  readonly policy: Policy;
  readonly pool: Pool;
}

export interface Step<C extends ShardCommand> {
  readonly outcome: Outcome<C>;
  readonly writes: Writes;
}

/** More bans than this push out the oldest: a room's record stays small. */
export const MOST_BANS = 200;

export function create(shard: Shard, command: Create, { now, policy, pool }: Circumstances): Step<Create> {
  const receipt = command.receipt === undefined ? undefined : shard.receipts.get(command.receipt);
  if (receipt !== undefined && receipt.until > now) {
    return refuse({ ok: false, reason: 'REPLAYED', code: receipt.code, ref: receipt.ref });
  }
  const isTaken = (code: RoomCode) => shard.rooms.has(code) || shard.cooling.has(code);
  const code = allocate(pool, command.shard, isTaken, command.candidates, command.from) ?? longestCooled(shard, now);
  if (code === undefined) return refuse({ ok: false, reason: 'FULL', freesInMs: freesIn(shard, now) });

  const room = opened(command, code, now, policy);
  return {
    // Nobody is there yet to be told of the host's arrival: the reply is the first anyone hears of the room.
    outcome: { ok: true, room: toSnapshot(room), events: [] },
    writes: {
      rooms: new Map([[code, room]]),
      cooling: new Map([[code, null]]),
      ...(command.receipt !== undefined && {
        receipts: new Map([[command.receipt, { code, ref: command.ref, until: now + policy.receiptMs }]]),
      }),
    },
  };
}

/** The room that a create opens, its host seated: all of it follows from the command, the code and the instant. */
export function opened(command: Create, code: RoomCode, now: number, policy: Policy): Room {
  const empty = foundedRoom(command, code, now, policy);
  return command.by === undefined ? empty : (sit(empty, command.by, now, policy).room ?? empty);
}

/** The same before anybody sits in it. */
export function foundedRoom({ ref, by, settings }: Create, code: RoomCode, now: number, policy: Policy): Room {
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
    seats: [],
  };
}

export function join(shard: Shard, command: Join, { now, policy }: Circumstances): Step<Join> {
  const { by } = command;
  const room = shard.rooms.get(command.code);
  if (room?.ref !== command.ref) return refuse({ ok: false, reason: 'CODE_EXPIRED' });
  const reason = whyNotJoin(room, by.userId);
  if (reason !== undefined) return refuse({ ok: false, reason });
  const seat = seatOf(room, by.userId);
  return seat === undefined ? placed(room, sit(room, by, now, policy)) : comeBack(room, seat, by, now, policy);
}

function whyNotJoin(room: Room, userId: UserId): JoinRefusal['reason'] | undefined {
  if (room.banned.includes(userId)) return 'BANNED';
  // Who has a seat already may always come back to it, into a full or locked room too.
  if (seatOf(room, userId) !== undefined) return undefined;
  if (room.locked) return 'ROOM_LOCKED';
  return room.seats.length >= room.maxUsers ? 'ROOM_FULL' : undefined;
}

export function leave(shard: Shard, command: Leave, { now, policy }: Circumstances): Step<Leave> {
  const held = locate(shard, command);
  if (!held.ok) return refuse(held);
  return moved(held.room, vacate({ ...held.room, lastActive: now }, held.seat, 'left', now, policy), now, policy);
}

export function suspend(shard: Shard, command: Suspend, { now, policy }: Circumstances): Step<Suspend> {
  const held = locate(shard, command);
  if (!held.ok) return refuse(held);
  const { room, seat } = held;
  if (seat.state === 'away') return moved(room, { room, events: [], evicted: [] }, now, policy);
  return moved(room, { ...suspendSeat(room, seat, now, policy), evicted: [] }, now, policy);
}

export function resume(shard: Shard, command: Resume, { now, policy }: Circumstances): Step<Resume> {
  const held = locateSeat(shard, command);
  if (!held.ok) return refuse(held);
  return comeBack(held.room, held.seat, { session: command.session, nodeId: command.nodeId }, now, policy);
}

export function renew(shard: Shard, command: Renew, { now, policy }: Circumstances): Step<Renew> {
  const held = locate(shard, command);
  if (!held.ok) return refuse(held);
  const room: Room = { ...held.room, seats: replaceSeat(held.room, renewed(held.seat, now, policy)), lastActive: now };
  return {
    outcome: { ok: true, rev: room.rev, now },
    writes: { rooms: new Map([[room.code, room]]) },
  };
}

export function update(shard: Shard, command: Update, { now }: Circumstances): Step<Update> {
  const { change } = command;
  if (change.of === 'room') {
    const governed = govern(shard, command);
    if (!governed.ok) return refuse(governed);
    return updated(governed.room, change.to, () => {
      const room = bump(governed.room, { ...change.to, lastActive: now });
      return { room, told: event(room, 'room:updated', { room: toInfo(room) }) };
    });
  }
  // The compiler does not follow from the change, one level down, to whoever may ask for it.
  const held = locate(shard, command as SeatKey);
  if (!held.ok) return refuse(held);
  return updated(held.room, change.to, () => {
    const seat = { ...held.seat, ...change.to };
    const room = bump(held.room, { seats: replaceSeat(held.room, seat), lastActive: now });
    return { room, told: event(room, 'member:updated', { member: toMember(seat, room.hostId) }) };
  });
}

/** What changes nothing raises no revision. */
function updated(before: Room, changes: object, change: () => { room: Room; told: RoomEvent }): Step<Update> {
  if (Object.keys(changes).length === 0) {
    return { outcome: { ok: true, room: toSnapshot(before), events: [] }, writes: {} };
  }
  const { room, told } = change();
  return {
    outcome: { ok: true, room: toSnapshot(room), events: [told] },
    writes: { rooms: new Map([[room.code, room]]) },
  };
}

export function kick(shard: Shard, command: Kick, { now, policy }: Circumstances): Step<Kick> {
  const governed = govern(shard, command);
  if (!governed.ok) return refuse(governed);
  const { room } = governed;
  if ('userId' in command && command.target === command.userId) return refuse({ ok: false, reason: 'CONFLICT' });
  const target = seatOf(room, command.target);
  if (target === undefined) return refuse({ ok: false, reason: 'PEER_NOT_FOUND' });
  const banned = command.ban ? [...room.banned, command.target].slice(-MOST_BANS) : room.banned;
  return moved(room, vacate({ ...room, banned, lastActive: now }, target, 'kicked', now, policy), now, policy);
}

export function close(shard: Shard, command: Close, { now, policy }: Circumstances): Step<Close> {
  const governed = govern(shard, command);
  if (!governed.ok) return refuse(governed);
  return moved(governed.room, end(governed.room, 'closed'), now, policy);
}

export function read(shard: Shard, command: Read): Step<Read> {
  const room = shard.rooms.get(command.code);
  if (command.ref !== undefined && room?.ref !== command.ref) return refuse({ ok: false, reason: 'CODE_EXPIRED' });
  if (room === undefined) return refuse({ ok: false, reason: 'ROOM_NOT_FOUND' });
  const reason = command.joiner === undefined ? undefined : whyNotJoin(room, command.joiner);
  if (reason !== undefined) return refuse({ ok: false, reason });
  return { outcome: { ok: true, room: toSnapshot(room) }, writes: {} };
}

export function stock(shard: Shard, _command: Stock, { now }: Circumstances): Step<Stock> {
  return { outcome: { ok: true, ...figures(shard, now) }, writes: {} };
}

/** Only a present member is kept by renewing; an away one must resume. */
export const renewed = (seat: Seat, now: number, policy: Policy): Seat =>
  seat.state === 'present' ? { ...seat, leaseUntil: now + policy.leaseMs } : seat;

/** A room that has ended frees its code into cooling, in the same step. */
export function settle(code: RoomCode, room: Room | null, now: number, policy: Policy): Writes {
  return {
    rooms: new Map([[code, room]]),
    ...(room === null && { cooling: new Map([[code, now + policy.cooldownMs]]) }),
  };
}

function comeBack(room: Room, seat: Seat, by: Pick<Join['by'], 'session' | 'nodeId'>, now: number, policy: Policy) {
  if (by.session < seat.session) return refuse({ ok: false, reason: 'SESSION_EXPIRED' });
  if (by.session === seat.session && seat.state === 'present') {
    return placed(room, { room: { ...room, lastActive: now }, events: [], evicted: [] });
  }
  return placed(room, takeOver(room, seat, { session: by.session, nodeId: by.nodeId }, now, policy));
}

function placed(before: Room, course: Course): { outcome: Placed; writes: Writes } {
  const { room, events } = course;
  return {
    outcome: { ok: true, room: toSnapshot(room ?? before), events },
    writes: { rooms: new Map([[before.code, room]]) },
  };
}

function moved(before: Room, course: Course, now: number, policy: Policy) {
  const { room, events, evicted } = course;
  const rev = room?.rev ?? events.at(-1)?.body.rev ?? before.rev;
  return { outcome: { ok: true, rev, events, evicted } as const, writes: settle(before.code, room, now, policy) };
}

const refuse = <const Refused>(outcome: Refused): { outcome: Refused; writes: Writes } => ({ outcome, writes: {} });
