/** A stage for the rules: one shard, a clock that is turned by hand, and steps that read like the story they tell. */
import type { ErrorCode } from '../../src/protocol/errors.ts';
import type { NodeId, RoomCode, RoomRef, SessionNumber, UserId } from '../../src/protocol/ids.ts';
import type * as commands from '../../src/room/commands.ts';
import type { RoomEvent } from '../../src/room/outcomes.ts';
import { createPool, type Pool } from '../../src/room/pool.ts';
import type { Policy, Room } from '../../src/room/room.ts';
import { applyRule } from '../../src/room/rules.ts';
import { applyWrites, createShard, type Shard } from '../../src/room/shard.ts';
import { frozenShard } from './frozen.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

export const POLICY: Policy = {
  leaseMs: MINUTE,
  graceMs: 30 * SECOND,
  idleMs: 30 * MINUTE,
  emptyMs: 5 * MINUTE,
  maxAgeMs: 24 * HOUR,
  cooldownMs: 10 * MINUTE,
  idempotencyMs: 10 * MINUTE,
  closeOnHostLeave: false,
};

export const SHARD = 7;

// The tests' own ids have the shape that the brands promise.
export const code = (text: string) => text as RoomCode;
export const ref = (number: number) => `ROM2026${String(number).padStart(8, '0')}` as RoomRef;
export const user = (name: string) => name as UserId;
export const node = (name: string) => name as NodeId;
export const session = (number: number) => number as SessionNumber;

export type AnyOutcome = commands.Outcome<commands.ShardCommand>;

export interface Stage {
  readonly now: number;
  readonly shard: Shard;
  readonly pool: Pool;
  readonly policy: Policy;
  turnTo(now: number): void;
  /** Applies a command to a frozen copy of the shard: a rule that writes into what it was given throws. */
  apply<C extends commands.ShardCommand>(command: C): commands.Outcome<C>;
  room(of?: RoomCode): Room;
}

export function createStage(policy: Partial<Policy> = {}, pool: Pool = createPool(6)): Stage {
  const shard = createShard();
  const settings = { policy: { ...POLICY, ...policy }, pool };
  let now = 0;
  return {
    get now() {
      return now;
    },
    shard,
    ...settings,
    turnTo(instant) {
      now = instant;
    },
    apply<C extends commands.ShardCommand>(command: C) {
      const { outcome, writes } = applyRule(frozenShard(shard), command, { now, ...settings });
      applyWrites(shard, writes);
      return outcome;
    },
    room(of = FIRST_CODE) {
      const room = shard.rooms.get(of);
      if (room === undefined) throw new Error(`no room at ${of}`);
      return room;
    },
  };
}

/** What a create without candidates gets in an empty shard. */
export const FIRST_CODE = code('100007');

export type Step = (stage: Stage) => AnyOutcome | undefined;

/** Lets the steps happen and gives the last one's outcome. */
export function play(stage: Stage, ...steps: readonly Step[]): AnyOutcome | undefined {
  return steps.map((step) => step(stage)).at(-1);
}

/** Who acts, where: the first room of the shard and the user's first session unless told otherwise. */
export interface Where {
  readonly code?: string;
  readonly ref?: number;
  readonly session?: number;
  readonly node?: string;
}

export const at =
  (now: number): Step =>
  (stage) => {
    stage.turnTo(now);
    return undefined;
  };

const occupant = (name: string, where: Where, profile: commands.SeatChanges = {}): commands.JoiningUser => ({
  userId: user(name),
  session: session(where.session ?? 1),
  nodeId: node(where.node ?? 'node-a'),
  profile,
});

export const seatKey = (name: string, where: Where = {}): commands.SeatKey => ({
  code: where.code === undefined ? FIRST_CODE : code(where.code),
  ref: ref(where.ref ?? 1),
  userId: user(name),
  session: session(where.session ?? 1),
});

export interface Creation extends Where {
  readonly candidates?: readonly string[];
  readonly from?: number;
  readonly idempotencyKey?: string;
  readonly settings?: commands.RoomChanges;
  readonly profile?: commands.SeatChanges;
}

export const create =
  (name: string, { candidates = [], from = 0, idempotencyKey, settings, profile, ...where }: Creation = {}): Step =>
  (stage) =>
    stage.apply({
      kind: 'create',
      shard: SHARD,
      candidates: candidates.map(code),
      from,
      ref: ref(where.ref ?? 1),
      by: occupant(name, where, profile),
      settings: { type: 'meeting', maxUsers: 4, access: 'open', ...settings },
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });

export const join =
  (name: string, where: Where & { readonly profile?: commands.SeatChanges } = {}): Step =>
  (stage) => {
    const { code: at, ref: of } = seatKey(name, where);
    return stage.apply({ kind: 'join', code: at, ref: of, by: occupant(name, where, where.profile) });
  };

export const leave = (name: string, where?: Where) => doing(name, where, { kind: 'leave' });
export const suspend = (name: string, where?: Where) => doing(name, where, { kind: 'suspend' });
export const renew = (name: string, where?: Where) => doing(name, where, { kind: 'renew' });
export const close = (name: string, where?: Where) => doing(name, where, { kind: 'close' });
export const resume = (name: string, where: Where = {}) =>
  doing(name, where, { kind: 'resume', nodeId: node(where.node ?? 'node-a') });
export const kick = (name: string, target: string, where: Where & { readonly ban?: boolean } = {}) =>
  doing(name, where, { kind: 'kick', target: user(target), ban: where.ban ?? false });
export const updateRoom = (name: string, to: commands.RoomChanges, where?: Where) =>
  doing(name, where, { kind: 'update', change: { of: 'room', to } });
export const updateSeat = (name: string, to: commands.SeatChanges, where?: Where) =>
  doing(name, where, { kind: 'update', change: { of: 'seat', to } });

type BySeat = commands.Leave | commands.Suspend | commands.Resume | commands.Renew | commands.Close | commands.Update;
type Act = Without<BySeat> | Without<commands.Kick>;
type Without<C> = C extends commands.SeatKey ? Omit<C, keyof commands.SeatKey> : never;

const doing =
  (name: string, where: Where | undefined, act: Act): Step =>
  (stage) =>
    // The act and the key are the two halves of the command.
    stage.apply({ ...act, ...seatKey(name, where) } as BySeat | commands.Kick);

export const read =
  (where: { readonly code?: string; readonly ref?: number } = {}): Step =>
  (stage) =>
    stage.apply({
      kind: 'read',
      code: code(where.code ?? FIRST_CODE),
      ...(where.ref !== undefined && { ref: ref(where.ref) }),
    });

export const tick =
  (held: readonly commands.SeatKey[] = [], limit = 100): Step =>
  (stage) =>
    stage.apply({ kind: 'tick', shard: SHARD, held, limit });

export type Said = 'ok' | 'FULL' | 'REPLAYED' | ErrorCode;

export const said = (outcome: AnyOutcome | undefined): Said | undefined =>
  outcome && (outcome.ok ? 'ok' : outcome.reason);

/** The events of an outcome, in words: `3 member:left ann kicked`. */
export function told(outcome: AnyOutcome | undefined): string[] {
  if (outcome === undefined || !outcome.ok || !('events' in outcome)) return [];
  return outcome.events.map(inWords);
}

function inWords({ name, body }: RoomEvent): string {
  const who =
    'member' in body ? body.member.userId : 'userId' in body ? body.userId : 'hostId' in body ? body.hostId : undefined;
  const why = 'reason' in body ? body.reason : undefined;
  return [body.rev, name, who === null ? 'nobody' : who, why].filter((word) => word !== undefined).join(' ');
}

/** Who has lost a seat by somebody else's doing: `bob kicked`. */
export function evicted(outcome: AnyOutcome | undefined): string[] {
  if (outcome === undefined || !outcome.ok || !('evicted' in outcome)) return [];
  return outcome.evicted.map(({ userId, reason }) => `${userId} ${reason}`);
}

/** Who sits in the room, in the order of joining: `ann* bob cat(away)`, with a star for the host; `-` when it is empty. */
export function seats(stage: Stage, of: RoomCode = FIRST_CODE): string {
  const room = stage.shard.rooms.get(of);
  if (room === undefined) return 'no room';
  const words = room.seats.map(
    ({ userId, state }) => `${userId}${userId === room.hostId ? '*' : ''}${state === 'away' ? '(away)' : ''}`,
  );
  return words.join(' ') || '-';
}
