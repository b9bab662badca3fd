/** What the tests of the engines stand on: a clock turned by hand, a small pool, and commands in few words. */
import type { Engine, EngineSettings } from '../../src/engine/engine.ts';
import type { NodeId, RoomCode, RoomRef, SessionNumber, UserId } from '../../src/protocol/ids.ts';
import type { RoomSnapshot } from '../../src/protocol/snapshot.ts';
import type {
  Close,
  Command,
  JoiningUser,
  Kick,
  Outcome,
  RoomChanges,
  SeatChanges,
  SeatKey,
  Update,
} from '../../src/room/commands.ts';
import type { RoomEvent } from '../../src/room/outcomes.ts';
import { codeAt, createPool, SHARDS } from '../../src/room/pool.ts';
import type { Policy } from '../../src/room/room.ts';
import type { Clock } from '../../src/support/clock.ts';

export const POLICY: Policy = {
  leaseMs: 60_000,
  graceMs: 30_000,
  idleMs: 1_800_000,
  emptyMs: 300_000,
  maxAgeMs: 86_400_000,
  cooldownMs: 600_000,
  idempotencyMs: 600_000,
  closeOnHostLeave: false,
};

export const SHARD = 7;
export const NODE = 'node-a' as NodeId;

export const poolOf = (perShard: number) => createPool(6, perShard * SHARDS);
/** The code of an index in the shard that the tests play in. */
export const code = (index: number): RoomCode => codeAt(poolOf(9_000), SHARD, index);
/** Refs as the generator gives them. */
export const refOf = (number: number): RoomRef => `ROM2026${String(number).padStart(8, '0')}` as RoomRef;

export function settingsOf(perShard = 3, policy: Partial<Policy> = {}): EngineSettings {
  return { nodeId: NODE, pool: poolOf(perShard), policy: { ...POLICY, ...policy }, feedMaxEvents: 1_000 };
}

export interface HandClock extends Clock {
  advance(ms: number): void;
}

/** Engines only look at the time; whoever starts a timer on this clock has left the contract. */
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

type OwnersAct =
  | { readonly kind: 'close' }
  | { readonly kind: 'kick'; readonly target: string; readonly ban: boolean }
  | { readonly kind: 'update'; readonly change: { readonly of: 'room'; readonly to: RoomChanges } };
type Place = Pick<RoomSnapshot, 'code' | 'ref'>;
interface Who {
  readonly session?: number;
  readonly node?: string;
  readonly profile?: SeatChanges;
}
interface Opening extends Who {
  readonly candidates?: readonly RoomCode[];
  readonly from?: number;
  readonly ref?: RoomRef;
  readonly settings?: RoomChanges;
  readonly idempotencyKey?: string;
  readonly shard?: number;
}

export const occupant = (userId: string, { session = 1, node = NODE, profile = {} }: Who = {}): JoiningUser => ({
  userId: userId as UserId,
  session: session as SessionNumber,
  nodeId: node as NodeId,
  profile,
});

export const key = ({ code, ref }: Place, userId: string, session = 1): SeatKey => ({
  code,
  ref,
  userId: userId as UserId,
  session: session as SessionNumber,
});

export class Stage {
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

  create(userId: string, opening: Opening = {}) {
    this.#refs += 1;
    const {
      candidates = [],
      from = 0,
      ref = refOf(this.#refs),
      settings = {},
      idempotencyKey,
      shard = SHARD,
    } = opening;
    return this.apply({
      kind: 'create',
      shard,
      candidates,
      from,
      ref,
      by: occupant(userId, opening),
      settings: { type: 'call', maxUsers: 3, access: 'open', ...settings },
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });
  }

  /** A room without a host, as the owner opens it. */
  found({ candidates = [], from = 0, ref = refOf(1), settings = {} }: Opening = {}) {
    return this.apply({
      kind: 'create',
      shard: SHARD,
      candidates,
      from,
      ref,
      settings: { type: 'call', maxUsers: 3, access: 'open', ...settings },
    });
  }

  byOwner = (act: OwnersAct, { code, ref }: Place): Promise<Outcome<Close | Kick | Update>> =>
    // The act and the key are the two halves of the command.
    this.apply({ ...act, code, ref, owner: true } as Close | Kick | Update);

  list = ({ after, limit = 100 }: { after?: RoomCode; limit?: number } = {}) =>
    this.apply({ kind: 'list', shard: SHARD, limit, ...(after !== undefined && { after }) });

  /** A room with its members in the order of joining, the first is the host. */
  async room(members: readonly string[], opening: Opening = {}): Promise<RoomSnapshot> {
    const [host = 'anna', ...guests] = members;
    const created = await this.create(host, opening);
    if (!created.ok) throw new Error(`no room: ${created.reason}`);
    let { room } = created;
    for (const guest of guests) {
      const joined = await this.join(room, guest);
      if (!joined.ok) throw new Error(`${guest} cannot join: ${joined.reason}`);
      ({ room } = joined);
    }
    return room;
  }

  join = ({ code, ref }: Place, userId: string, who: Who = {}) =>
    this.apply({ kind: 'join', code, ref, by: occupant(userId, who) });

  leave = (room: Place, userId: string, session = 1) => this.apply({ kind: 'leave', ...key(room, userId, session) });

  suspend = (room: Place, userId: string, session = 1) =>
    this.apply({ kind: 'suspend', ...key(room, userId, session) });

  resume = (room: Place, userId: string, session: number, node = 'node-b') =>
    this.apply({ kind: 'resume', nodeId: node as NodeId, ...key(room, userId, session) });

  renew = (room: Place, userId: string, session = 1) => this.apply({ kind: 'renew', ...key(room, userId, session) });

  updateRoom = (room: Place, userId: string, to: RoomChanges, session = 1) =>
    this.apply({ kind: 'update', change: { of: 'room', to }, ...key(room, userId, session) });

  updateSeat = (room: Place, userId: string, to: SeatChanges, session = 1) =>
    this.apply({ kind: 'update', change: { of: 'seat', to }, ...key(room, userId, session) });

  kick = (room: Place, userId: string, target: string, { ban = false, session = 1 } = {}) =>
    this.apply({ kind: 'kick', target: target as UserId, ban, ...key(room, userId, session) });

  close = (room: Place, userId: string, session = 1) => this.apply({ kind: 'close', ...key(room, userId, session) });

  read = (code: RoomCode, ref?: RoomRef) => this.apply({ kind: 'read', code, ...(ref !== undefined && { ref }) });
  /** Asks what a join would be told. */
  ask = (code: RoomCode, joiner: string) => this.apply({ kind: 'read', code, joiner: joiner as UserId });

  tick = (held: readonly SeatKey[] = [], limit = 100, shard = SHARD) =>
    this.apply({ kind: 'tick', shard, held, limit });

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
    seat: Place | null = null,
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

  /** What a room is like now, or the reason why it is not there. */
  async seen(room: Place): Promise<RoomSnapshot | string> {
    const read = await this.read(room.code, room.ref);
    return read.ok ? read.room : read.reason;
  }
}

/** `member:left anna` and the like, with the revision: an event in a line. */
export function told(outcome: { readonly events: readonly RoomEvent[] } | { readonly ok: boolean }): string[] {
  return ('events' in outcome ? outcome.events : []).map(({ name, body }) => {
    const about =
      ('member' in body && body.member.userId) ||
      ('userId' in body && body.userId) ||
      ('hostId' in body && (body.hostId ?? 'nobody')) ||
      ('reason' in body && body.reason) ||
      'room';
    return `${body.rev} ${name} ${about}`;
  });
}
