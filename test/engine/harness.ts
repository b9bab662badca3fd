/** A harness for the engines: a clock that is set by hand, a small pool, and a method for each command. */
import type { Engine, EngineSettings } from '../../src/engine/engine.ts';
import type { NodeId, RoomCode, RoomRef, SessionNumber, UserId } from '../../src/protocol/ids.ts';
import type { RoomSnapshot } from '../../src/protocol/snapshot.ts';
import type {
  Close,
  Command,
  Kick,
  Outcome,
  RoomChanges,
  SeatChanges,
  SeatKey,
  Tick,
  Update,
} from '../../src/room/commands.ts';
import { codeAt, createPool, SHARDS } from '../../src/room/pool.ts';
import type { Policy, RoomKey } from '../../src/room/room.ts';
import type { Clock } from '../../src/support/clock.ts';
import { type From, joiningUser, node, POLICY, QUIET_TICK, refOf, SHARD, seatKey } from '../room/fixtures.ts';

export const NODE = node('node-a');

export const poolOf = (perShard: number) => createPool(6, perShard * SHARDS);
/** The code of an index in the tests' shard. */
export const nthCode = (index: number): RoomCode => codeAt(poolOf(9_000), SHARD, index);
export function settingsOf(perShard = 3, policy: Partial<Policy> = {}): EngineSettings {
  return { nodeId: NODE, pool: poolOf(perShard), policy: { ...POLICY, ...policy }, feedMaxEvents: 1_000 };
}

export interface HandClock extends Clock {
  advance(ms: number): void;
}

/** Engines may read this clock, but not start timers on it. */
export function createHandClock(start = 1_800_000_000_000): HandClock {
  let now = start;
  const unused = (): never => {
    throw new Error('no engine starts timers on the clock');
  };
  return {
    now: () => now,
    monotonic: () => now,
    advance: (ms) => {
      now += ms;
    },
    after: unused,
    every: unused,
    nextTurn: setImmediate,
  };
}

type OwnerCommand =
  | { readonly kind: 'close' }
  | { readonly kind: 'kick'; readonly target: string; readonly ban: boolean }
  | { readonly kind: 'update'; readonly change: { readonly subject: 'room'; readonly values: RoomChanges } };
interface Creation extends From {
  readonly candidates?: readonly RoomCode[];
  readonly searchFrom?: number;
  readonly ref?: RoomRef;
  readonly settings?: RoomChanges;
  readonly idempotencyKey?: string;
  readonly shard?: number;
}

export class EngineHarness {
  readonly engine: Engine;
  readonly clock: HandClock;
  #refs = 0;

  constructor(engine: Engine, clock: HandClock) {
    this.engine = engine;
    this.clock = clock;
  }

  apply<C extends Command>(command: C): Promise<Outcome<C>> {
    return this.engine.apply(command);
  }

  create(userId: string, creation: Creation = {}) {
    this.#refs += 1;
    const {
      candidates = [],
      searchFrom = 0,
      ref = refOf(this.#refs),
      settings = {},
      idempotencyKey,
      shard = SHARD,
    } = creation;
    return this.apply({
      kind: 'create',
      shard,
      candidates,
      searchFrom,
      ref,
      by: joiningUser(userId, creation),
      settings: { type: 'call', maxUsers: 3, access: 'open', ...settings },
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
  }

  /** A room without a host, as the owner creates it. */
  createWithoutHost({ candidates = [], searchFrom = 0, ref = refOf(1), settings = {} }: Creation = {}) {
    return this.apply({
      kind: 'create',
      shard: SHARD,
      candidates,
      searchFrom,
      ref,
      settings: { type: 'call', maxUsers: 3, access: 'open', ...settings },
    });
  }

  byOwner = (rest: OwnerCommand, { code, ref }: RoomKey): Promise<Outcome<Close | Kick | Update>> =>
    // The key and the rest are the two halves of the command.
    this.apply({ ...rest, code, ref, owner: true } as Close | Kick | Update);

  list = ({ after, limit = 100 }: { after?: RoomCode; limit?: number } = {}) =>
    this.apply({ kind: 'list', shard: SHARD, limit, ...(after !== undefined && { after }) });

  /** A room with its members in the order of joining, the first is the host. */
  async room(members: readonly string[], creation: Creation = {}): Promise<RoomSnapshot> {
    const [host = 'anna', ...guests] = members;
    const created = await this.create(host, creation);
    if (!created.ok) throw new Error(`no room: ${created.reason}`);
    let { room } = created;
    for (const guest of guests) {
      const joined = await this.join(room, guest);
      if (!joined.ok) throw new Error(`${guest} cannot join: ${joined.reason}`);
      ({ room } = joined);
    }
    return room;
  }

  join = ({ code, ref }: RoomKey, userId: string, from: From = {}) =>
    this.apply({ kind: 'join', code, ref, by: joiningUser(userId, from) });

  leave = (room: RoomKey, userId: string, session = 1) =>
    this.apply({ kind: 'leave', ...seatKey(room, userId, session) });

  suspend = (room: RoomKey, userId: string, session = 1) =>
    this.apply({ kind: 'suspend', ...seatKey(room, userId, session) });

  resume = (room: RoomKey, userId: string, session: number, node = 'node-b') =>
    this.apply({ kind: 'resume', nodeId: node as NodeId, ...seatKey(room, userId, session) });

  renew = (room: RoomKey, userId: string, session = 1) =>
    this.apply({ kind: 'renew', ...seatKey(room, userId, session) });

  updateRoom = (room: RoomKey, userId: string, to: RoomChanges, session = 1) =>
    this.apply({ kind: 'update', change: { subject: 'room', values: to }, ...seatKey(room, userId, session) });

  updateSeat = (room: RoomKey, userId: string, to: SeatChanges, session = 1) =>
    this.apply({ kind: 'update', change: { subject: 'seat', values: to }, ...seatKey(room, userId, session) });

  kick = (room: RoomKey, userId: string, target: string, { ban = false, session = 1 } = {}) =>
    this.apply({ kind: 'kick', target: target as UserId, ban, ...seatKey(room, userId, session) });

  close = (room: RoomKey, userId: string, session = 1) =>
    this.apply({ kind: 'close', ...seatKey(room, userId, session) });

  read = (code: RoomCode, ref?: RoomRef) => this.apply({ kind: 'read', code, ...(ref !== undefined && { ref }) });
  /** For users who have that revision already. */
  readSince = ({ code, ref, rev }: RoomSnapshot, members: readonly string[] = []) =>
    this.apply({ kind: 'read', code, ref, known: { rev, members: members as UserId[] } });

  resolve = (code: RoomCode, ref?: RoomRef) => this.apply({ kind: 'resolve', code, ...(ref !== undefined && { ref }) });
  /** Refused where a join would be. */
  resolveAsJoiner = (code: RoomCode, joiner: string) => this.apply({ kind: 'resolve', code, joiner: joiner as UserId });

  find = ({ code, ref }: RoomKey, userId: string) => this.apply({ kind: 'find', code, ref, userId: userId as UserId });

  tick = (held: readonly SeatKey[] = [], limit = 100, shard = SHARD, more: Partial<Tick> = {}) =>
    this.apply({ kind: 'tick', shard, held, limit, ...QUIET_TICK, ...more });

  stats = (shard = SHARD) => this.apply({ kind: 'stats', shard });

  arrive = (userId: string, { node = NODE, name }: { node?: string; name?: string } = {}) =>
    this.apply({
      kind: 'arrive',
      userId: userId as UserId,
      nodeId: node as NodeId,
      ...(name !== undefined && { name }),
    });

  touch = (
    userId: string,
    session: number,
    seat: RoomKey | null = null,
    more: { name?: string; mediaType?: string } = {},
  ) =>
    this.apply({
      kind: 'touch',
      userId: userId as UserId,
      session: session as SessionNumber,
      nodeId: NODE,
      connectedAt: this.clock.now(),
      seat: seat && { code: seat.code, ref: seat.ref },
      ...more,
    });

  depart = (userId: string, session: number) =>
    this.apply({ kind: 'depart', userId: userId as UserId, session: session as SessionNumber });

  /** The current state of a room, or the reason of the refusal. */
  async snapshot(room: RoomKey): Promise<RoomSnapshot | string> {
    const read = await this.read(room.code, room.ref);
    return read.ok ? read.room : read.reason;
  }
}
