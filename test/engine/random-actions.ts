/** Random actions, in terms that always apply: a place in the shard, a user by number, an offset from its session. */
import fc from 'fast-check';
import type { EngineSettings } from '../../src/engine/engine.ts';
import type { RoomCode, RoomRef, SessionNumber, UserId } from '../../src/protocol/ids.ts';
import type { Command, OwnerKey, RoomChanges, SeatKey } from '../../src/room/commands.ts';
import { codeAt, type Pool } from '../../src/room/pool.ts';
import type { Room } from '../../src/room/room.ts';
import { seatOf } from '../../src/room/seats.ts';
import type { Shard } from '../../src/room/shard.ts';
import { joiningUser, QUIET_TICK, refOf, SHARD } from '../room/fixtures.ts';
import type { Action, Where } from './actions.ts';
import { NODE } from './harness.ts';
import { randomCopy, restoreCommand } from './random-copies.ts';

/** Earlier refs and sessions: commands that name one must be refused. */
export interface History {
  readonly refs: RoomRef[];
  readonly sessions: Map<UserId, number>;
  /** Rooms as they were at some instants, which nodes may restore. */
  readonly rooms: Room[];
}

/** One name is a part of another, and their alphabetical order differs from the usual order of joining. */
const USERS = ['zoe', 'anna-b', 'anna', 'mia'] as const;

// Few users and few rooms, so that actions meet.
const user = fc.constantFrom(0, 0, 1, 1, 2, 2, 3);
const place = fc.constantFrom(0, 0, 0, 1, 2);
const name = fc.constantFrom('A', 'Zoë "x"', '🚂');
const metadata = fc.constantFrom('[]', '{}', '{"a":1.50,"b":[]}', String.raw`"\ud800"`);
const mostly = <T>(usual: T, rare: fc.Arbitrary<T>, weight = 8) =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: rare });

const where: fc.Arbitrary<Where> = fc.record({
  place,
  user,
  past: mostly<number | undefined>(undefined, fc.nat(20)),
  off: mostly(0, fc.constantFrom(-1, 1), 4),
});
const owner = mostly(false, fc.constant(true), 3);
const profile = fc.record({ name, metadata, mediaType: fc.constant('video') }, { requiredKeys: [] });
const changes = fc.record(
  { name, metadata, type: fc.constant('talk'), maxUsers: fc.integer({ min: 2, max: 4 }), locked: fc.boolean() },
  { requiredKeys: [] },
);
/** How far the revision that a reader has is behind that of the room; `undefined` for a reader without one. */
const behind = fc.constantFrom(undefined, undefined, 0, 0, 1);
const kind = <Name extends Action['do']>(what: Name) => fc.constant(what);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: kind('wait'),
      ms: fc.oneof(fc.constantFrom(1, 10_000, 10_000, 20_000, 30_000, 50_000), fc.constantFrom(39_999, 60_000)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: kind('create'),
      user: fc.oneof({ weight: 8, arbitrary: user }, { weight: 1, arbitrary: fc.constant(undefined) }),
      candidates: fc.array(place, { maxLength: 2 }),
      searchFrom: fc.nat(2),
      idempotencyKey: mostly<string | undefined>(undefined, fc.constantFrom('one', 'two'), 1),
      maxUsers: fc.integer({ min: 2, max: 3 }),
      changes: mostly<RoomChanges>({}, changes, 3),
      profile,
    }),
  },
  { weight: 9, arbitrary: fc.record({ do: kind('join'), where, profile }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom('leave', 'suspend', 'suspend', 'resume', 'renew'), where }),
  },
  { weight: 2, arbitrary: fc.record({ do: kind('close'), where, owner }) },
  { weight: 1, arbitrary: fc.record({ do: kind('change room'), where, changes, owner }) },
  { weight: 1, arbitrary: fc.record({ do: kind('change seat'), where, changes: profile }) },
  { weight: 4, arbitrary: fc.record({ do: kind('kick'), where, target: user, ban: fc.boolean(), owner }) },
  { weight: 2, arbitrary: fc.record({ do: kind('find'), where }) },
  { weight: 2, arbitrary: fc.record({ do: kind('read'), where, meant: fc.boolean(), behind }) },
  { weight: 2, arbitrary: fc.record({ do: kind('resolve'), where, meant: fc.boolean(), joins: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: kind('tick'),
      held: fc.array(where, { maxLength: 4 }),
      limit: fc.constantFrom(1, 2, 100, 100),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: kind('restore'), copy: randomCopy }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: kind('cool'),
      codes: fc.uniqueArray(fc.nat(2), { maxLength: 2 }),
      forMs: fc.constantFrom(10_000, 20_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: kind('stats') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: kind('list'),
      after: fc.option(place, { nil: undefined }),
      limit: fc.constantFrom(1, 2, 100),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: kind('arrive'), user, name: fc.option(name, { nil: undefined }) }) },
  { weight: 2, arbitrary: fc.record({ do: kind('touch'), where, sits: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: kind('depart'), user, off: mostly(0, fc.constantFrom(-1, 1), 3) }) },
);

/** A room with three members: most sequences that reach an interesting state begin so. */
const threeMembers: readonly Action[] = [
  {
    do: 'create',
    user: 0,
    candidates: [0],
    searchFrom: 0,
    idempotencyKey: 'one',
    maxUsers: 3,
    changes: {},
    profile: {},
  },
  ...[1, 2].map((user): Action => ({ do: 'join', where: { place: 0, user, past: undefined, off: 0 }, profile: {} })),
];

export const actions: fc.Arbitrary<Action[]> = fc
  .tuple(
    fc.constantFrom([], threeMembers, threeMembers),
    fc.array(action, { minLength: 15, maxLength: 50, size: 'max' }),
  )
  .map(([first, random]) => [...first, ...random]);

/** The state in which an action becomes a command. */
export interface Context {
  readonly shard: Shard;
  readonly history: History;
  readonly settings: EngineSettings;
  readonly now: number;
}

type ActionOf<Kind extends Action['do']> = Extract<Action, { do: Kind }>;
type UserAction = ActionOf<'arrive' | 'touch' | 'depart'>;

/** The command of an action in this state. */
export function commandOf(action: Exclude<Action, { do: 'wait' }>, context: Context): Command {
  switch (action.do) {
    case 'create':
      return createCommand(action, context);
    case 'join': {
      const { code, ref, userId, session } = seatKeyOf(action.where, context);
      return { kind: 'join', code, ref, by: joiningUser(userId, { session, profile: action.profile }) };
    }
    case 'resume':
      return { kind: 'resume', nodeId: NODE, ...seatKeyOf(action.where, context) };
    case 'change room':
      return { kind: 'update', change: { subject: 'room', values: action.changes }, ...authorizedKey(action, context) };
    case 'change seat':
      return {
        kind: 'update',
        change: { subject: 'seat', values: action.changes },
        ...seatKeyOf(action.where, context),
      };
    case 'kick':
      return { kind: 'kick', target: userOf(action.target), ban: action.ban, ...authorizedKey(action, context) };
    case 'close':
      return { kind: 'close', ...authorizedKey(action, context) };
    case 'read': {
      const { code, ref, userId } = seatKeyOf(action.where, context);
      const { rev = 0 } = context.shard.rooms.get(code) ?? {};
      const { behind, meant } = action;
      const known = behind === undefined ? {} : { known: { rev: Math.max(0, rev - behind), members: [userId] } };
      return { kind: 'read', code, ...(meant && { ref }), ...known };
    }
    case 'resolve': {
      const { code, ref, userId } = seatKeyOf(action.where, context);
      return { kind: 'resolve', code, ...(action.meant && { ref }), ...(action.joins && { joiner: userId }) };
    }
    case 'find': {
      const { code, ref, userId } = seatKeyOf(action.where, context);
      return { kind: 'find', code, ref, userId };
    }
    case 'tick':
      return {
        kind: 'tick',
        shard: SHARD,
        held: action.held.map((where) => seatKeyOf(where, context)),
        limit: action.limit,
        ...QUIET_TICK,
      };
    case 'restore':
      return restoreCommand(action.copy, context);
    case 'cool':
      return {
        kind: 'cool',
        shard: SHARD,
        codes: action.codes.map((place) => [codeOf(place, context.settings.pool), action.forMs]),
      };
    case 'stats':
      return { kind: 'stats', shard: SHARD };
    case 'list': {
      const { after, limit } = action;
      const behind = after === undefined ? {} : { after: codeOf(after, context.settings.pool) };
      return { kind: 'list', shard: SHARD, limit, ...behind };
    }
    case 'arrive':
    case 'touch':
    case 'depart':
      return userCommand(action, context);
    default:
      return { kind: action.do, ...seatKeyOf(action.where, context) };
  }
}

function createCommand(action: ActionOf<'create'>, { history, settings: { pool } }: Context): Command {
  return {
    kind: 'create',
    shard: SHARD,
    candidates: action.candidates.map((place) => codeOf(place, pool)),
    searchFrom: action.searchFrom % pool.perShard,
    ref: refOf(history.refs.length + 1),
    ...(action.user !== undefined && { by: joiningUser(userOf(action.user), { profile: action.profile }) }),
    settings: { type: 'call', access: 'open', ...action.changes, maxUsers: action.maxUsers },
    ...(action.idempotencyKey !== undefined && { idempotencyKey: action.idempotencyKey }),
  };
}

function userCommand(action: UserAction, context: Context): Command {
  const { history, now } = context;
  const sessionOf = (userId: UserId, off: number) => ((history.sessions.get(userId) ?? now) + off) as SessionNumber;
  switch (action.do) {
    case 'arrive': {
      const { name } = action;
      return { kind: 'arrive', userId: userOf(action.user), nodeId: NODE, ...(name !== undefined && { name }) };
    }
    case 'touch': {
      const { code, ref, userId } = seatKeyOf(action.where, context);
      const session = sessionOf(userId, action.where.off);
      return {
        kind: 'touch',
        userId,
        session,
        nodeId: NODE,
        connectedAt: now,
        seat: action.sits ? { code, ref } : null,
      };
    }
    case 'depart': {
      const userId = userOf(action.user);
      return { kind: 'depart', userId, session: sessionOf(userId, action.off) };
    }
  }
}

/** The key of the host, or of the owner. */
function authorizedKey({ where, owner }: { where: Where; owner: boolean }, context: Context): SeatKey | OwnerKey {
  const key = seatKeyOf(where, context);
  return owner ? { code: key.code, ref: key.ref, owner } : key;
}

function seatKeyOf({ place, user, past, off }: Where, { shard, history, settings }: Context): SeatKey {
  const code = codeOf(place, settings.pool);
  const room = shard.rooms.get(code);
  const userId = userOf(user);
  const session = (room && seatOf(room, userId)?.session) ?? 1;
  const ref = past === undefined ? room?.ref : history.refs[past % Math.max(1, history.refs.length)];
  // The rules need a number of at least 1, nothing more.
  return { code, ref: ref ?? refOf(9_999), userId, session: Math.max(1, session + off) as SessionNumber };
}

const codeOf = (place: number, pool: Pool): RoomCode => codeAt(pool, SHARD, place % pool.perShard);
const userOf = (index: number): UserId => (USERS[index] ?? 'zoe') as UserId; // names of the right shape
