/** A harness for the rules: one shard, a clock that is set by hand, and a function for each command. */
import type { ErrorCode } from '../../src/protocol/errors.ts';
import type { RoomCode } from '../../src/protocol/ids.ts';
import type * as commands from '../../src/room/commands.ts';
import { createPool, type Pool } from '../../src/room/pool.ts';
import type { Policy, Room, RoomKey } from '../../src/room/room.ts';
import { applyRule } from '../../src/room/rules.ts';
import { applyWrites, createShard, type Shard } from '../../src/room/shard.ts';
import { code, joiningUser, node, POLICY, QUIET_TICK, refOf, SHARD, seatKey, user } from './fixtures.ts';
import { frozenShard } from './frozen.ts';

export type AnyOutcome = commands.Outcome<commands.ShardCommand>;

export interface Harness {
  readonly now: number;
  readonly shard: Shard;
  readonly pool: Pool;
  readonly policy: Policy;
  turnTo(now: number): void;
  /** Applies a command to a frozen copy of the shard: a rule that writes into what it was given throws. */
  apply<C extends commands.ShardCommand>(command: C): commands.Outcome<C>;
  room(of?: RoomCode): Room;
}

export function createHarness(policy: Partial<Policy> = {}, pool: Pool = createPool(6)): Harness {
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
      const result = applyRule(frozenShard(shard), command, { now, ...settings });
      if ('recoveringMs' in result) throw new Error('the shard recovers');
      const { outcome, writes } = result;
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

/** The code that a create without candidates takes in an empty shard. */
export const FIRST_CODE = code('100007');

export type Step = (harness: Harness) => AnyOutcome | undefined;

/** @returns the outcome of the last step */
export function run(harness: Harness, ...steps: readonly Step[]): AnyOutcome | undefined {
  return steps.map((step) => step(harness)).at(-1);
}

/** By default: the first room of the shard, and the user's first session. */
export interface Where {
  readonly code?: string;
  readonly ref?: number;
  readonly session?: number;
  readonly node?: string;
}

export const at =
  (now: number): Step =>
  (harness) => {
    harness.turnTo(now);
    return undefined;
  };

const roomKey = ({ code: of = FIRST_CODE, ref: number = 1 }: Where): RoomKey => ({
  code: code(of),
  ref: refOf(number),
});

/** The key of the user's seat. */
export const keyOf = (name: string, where: Where = {}): commands.SeatKey =>
  seatKey(roomKey(where), name, where.session);

export interface Creation extends Where {
  readonly candidates?: readonly string[];
  readonly searchFrom?: number;
  readonly idempotencyKey?: string;
  readonly settings?: commands.RoomChanges;
  readonly profile?: commands.SeatChanges;
}

export const create =
  (
    name: string,
    { candidates = [], searchFrom = 0, idempotencyKey, settings, profile, ...where }: Creation = {},
  ): Step =>
  (harness) =>
    harness.apply({
      kind: 'create',
      shard: SHARD,
      candidates: candidates.map(code),
      searchFrom,
      ref: refOf(where.ref ?? 1),
      by: joiningUser(name, { ...where, ...(profile && { profile }) }),
      settings: { type: 'meeting', maxUsers: 4, access: 'open', ...settings },
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    });

export const join =
  (name: string, where: Where & { readonly profile?: commands.SeatChanges } = {}): Step =>
  (harness) => {
    return harness.apply({ kind: 'join', ...roomKey(where), by: joiningUser(name, where) });
  };

export const leave = (name: string, where?: Where) => bySeat(name, where, { kind: 'leave' });
export const suspend = (name: string, where?: Where) => bySeat(name, where, { kind: 'suspend' });
export const renew = (name: string, where?: Where) => bySeat(name, where, { kind: 'renew' });
export const close = (name: string, where?: Where) => bySeat(name, where, { kind: 'close' });
export const resume = (name: string, where: Where = {}) =>
  bySeat(name, where, { kind: 'resume', nodeId: node(where.node ?? 'node-a') });
export const kick = (name: string, target: string, where: Where & { readonly ban?: boolean } = {}) =>
  bySeat(name, where, { kind: 'kick', target: user(target), ban: where.ban ?? false });
export const updateRoom = (name: string, to: commands.RoomChanges, where?: Where) =>
  bySeat(name, where, { kind: 'update', change: { subject: 'room', values: to } });
export const updateSeat = (name: string, to: commands.SeatChanges, where?: Where) =>
  bySeat(name, where, { kind: 'update', change: { subject: 'seat', values: to } });

type BySeat = commands.Leave | commands.Suspend | commands.Resume | commands.Renew | commands.Close | commands.Update;
type WithoutKey = Without<BySeat> | Without<commands.Kick>;
type Without<C> = C extends commands.SeatKey ? Omit<C, keyof commands.SeatKey> : never;

const bySeat =
  (name: string, where: Where | undefined, rest: WithoutKey): Step =>
  (harness) =>
    // The key and the rest are the two halves of the command.
    harness.apply({ ...rest, ...keyOf(name, where) } as BySeat | commands.Kick);

export const read =
  (where: { readonly code?: string; readonly ref?: number } = {}): Step =>
  (harness) =>
    harness.apply({
      kind: 'read',
      code: code(where.code ?? FIRST_CODE),
      ...(where.ref !== undefined && { ref: refOf(where.ref) }),
    });

export const tick =
  (held: readonly commands.SeatKey[] = [], limit = 100): Step =>
  (harness) =>
    harness.apply({ kind: 'tick', shard: SHARD, held, limit, ...QUIET_TICK });

export type OutcomeWord = 'ok' | 'FULL' | 'REPLAYED' | 'UNCHANGED' | ErrorCode;

export const outcomeWord = (outcome: AnyOutcome | undefined): OutcomeWord | undefined =>
  outcome && (outcome.ok ? 'ok' : outcome.reason);

/** The evicted sessions of an outcome, a line each: `bob kicked`. */
export function evictedOf(outcome: AnyOutcome | undefined): string[] {
  if (outcome === undefined || !outcome.ok || !('evicted' in outcome)) return [];
  return outcome.evicted.map(({ userId, reason }) => `${userId} ${reason}`);
}

/** The members of the room in the order of joining: `ann* bob cat(away)`, with a star for the host; `-` when it is empty. */
export function seatsOf(harness: Harness, of: RoomCode = FIRST_CODE): string {
  const room = harness.shard.rooms.get(of);
  if (room === undefined) return 'no room';
  const words = room.seats.map(
    ({ userId, state }) => `${userId}${userId === room.hostId ? '*' : ''}${state === 'away' ? '(away)' : ''}`,
  );
  return words.join(' ') || '-';
}
