/** Values that the tests of the rules and of the engines share: times, the policy, ids, keys of seats. */
import type { NodeId, RoomCode, RoomRef, SessionNumber, UserId } from '../../src/protocol/ids.ts';
import type { JoiningUser, SeatChanges, SeatKey } from '../../src/room/commands.ts';
import type { Policy, RoomKey } from '../../src/room/room.ts';

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
  // A store that is new in every test has nothing to recover.
  recoveryMs: 0,
  closeOnHostLeave: false,
};

/** A tick that finds no gap, and asks for no copies: what most tests are not about. */
export const QUIET_TICK = { rooms: [], sole: false, everyMs: Number.MAX_SAFE_INTEGER } as const;

/** The shard of the tests' rooms. */
export const SHARD = 7;

// These ids have the shape that their brands promise.
export const code = (text: string) => text as RoomCode;
export const refOf = (number: number) => `ROM2026${String(number).padStart(8, '0')}` as RoomRef;
export const user = (name: string) => name as UserId;
export const node = (name: string) => name as NodeId;
export const session = (number: number) => number as SessionNumber;

export interface From {
  readonly session?: number;
  readonly node?: string;
  readonly profile?: SeatChanges;
}

/** By default the user's first session, on the first node. */
export const joiningUser = (name: string, from: From = {}): JoiningUser => ({
  userId: user(name),
  session: session(from.session ?? 1),
  nodeId: node(from.node ?? 'node-a'),
  profile: from.profile ?? {},
});

export const seatKey = ({ code, ref }: RoomKey, name: string, number = 1): SeatKey => ({
  code,
  ref,
  userId: user(name),
  session: session(number),
});
