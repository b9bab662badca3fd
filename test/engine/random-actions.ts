/** Random stories: what happens, in terms that always find something to happen to. */
import fc from 'fast-check';
import type { EngineSettings } from '../../src/engine/engine.ts';
import type { RoomCode, RoomRef, SessionNumber, UserId } from '../../src/protocol/ids.ts';
import type { Command, OwnerKey, RoomChanges, SeatChanges, SeatKey } from '../../src/room/commands.ts';
import { codeAt, type Pool } from '../../src/room/pool.ts';
import { seatOf } from '../../src/room/seats.ts';
import type { Shard } from '../../src/room/shard.ts';
import { joiningUser, refOf, SHARD } from '../room/fixtures.ts';
import { NODE } from './harness.ts';

/** What has been: stories come back to it to be refused. */
export interface History {
  readonly refs: RoomRef[];
  readonly sessions: Map<UserId, number>;
}

interface Where {
  readonly place: number;
  readonly user: number;
  /** Which of the refs that were ever given; `undefined` for the one of the room that is there. */
  readonly past: number | undefined;
  /** How far from the session that holds the seat. */
  readonly off: number;
}

export type Action =
  | { readonly do: 'wait'; readonly ms: number }
  | {
      readonly do: 'create';
      /** Undefined: nobody is its host. */
      readonly user: number | undefined;
      readonly candidates: readonly number[];
      readonly from: number;
      readonly idempotencyKey: string | undefined;
      readonly maxUsers: number;
      readonly changes: RoomChanges;
      readonly profile: SeatChanges;
    }
  | { readonly do: 'join'; readonly where: Where; readonly profile: SeatChanges }
  | { readonly do: 'leave' | 'suspend' | 'resume' | 'renew'; readonly where: Where }
  | { readonly do: 'close'; readonly where: Where; readonly owner: boolean }
  | { readonly do: 'change room'; readonly where: Where; readonly changes: RoomChanges; readonly owner: boolean }
  | { readonly do: 'change seat'; readonly where: Where; readonly changes: SeatChanges }
  | {
      readonly do: 'kick';
      readonly where: Where;
      readonly target: number;
      readonly ban: boolean;
      readonly owner: boolean;
    }
  | { readonly do: 'read'; readonly where: Where; readonly meant: boolean; readonly joins: boolean }
  | { readonly do: 'tick'; readonly held: readonly Where[]; readonly limit: number }
  | { readonly do: 'stats' }
  | { readonly do: 'list'; readonly after: number | undefined; readonly limit: number }
  | { readonly do: 'arrive'; readonly user: number; readonly name: string | undefined }
  | { readonly do: 'touch'; readonly where: Where; readonly sits: boolean }
  | { readonly do: 'depart'; readonly user: number; readonly off: number };

/** One name is a part of another, and their order is not the one in which they usually come. */
const USERS = ['zoe', 'anna-b', 'anna', 'mia'] as const;

// Stories about few people in few rooms come to more.
const user = fc.constantFrom(0, 0, 1, 1, 2, 2, 3);
const place = fc.constantFrom(0, 0, 0, 1, 2);
const name = fc.constantFrom('A', 'Zoë "x"', '🚂');
const metadata = fc.constantFrom('[]', '{}', '{"a":1.50,"b":[]}', String.raw`"\ud800"`);
const mostly = <T>(usual: T, seldom: fc.Arbitrary<T>, weight = 8) =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: seldom });

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
const does = <Name extends Action['do']>(what: Name) => fc.constant(what);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: does('wait'),
      ms: fc.oneof(fc.constantFrom(1, 10_000, 10_000, 20_000, 30_000, 50_000), fc.constantFrom(39_999, 60_000)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: does('create'),
      user: fc.oneof({ weight: 8, arbitrary: user }, { weight: 1, arbitrary: fc.constant(undefined) }),
      candidates: fc.array(place, { maxLength: 2 }),
      from: fc.nat(2),
      idempotencyKey: mostly<string | undefined>(undefined, fc.constantFrom('one', 'two'), 1),
      maxUsers: fc.integer({ min: 2, max: 3 }),
      changes: mostly<RoomChanges>({}, changes, 3),
      profile,
    }),
  },
  { weight: 9, arbitrary: fc.record({ do: does('join'), where, profile }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom('leave', 'suspend', 'suspend', 'resume', 'renew'), where }),
  },
  { weight: 2, arbitrary: fc.record({ do: does('close'), where, owner }) },
  { weight: 1, arbitrary: fc.record({ do: does('change room'), where, changes, owner }) },
  { weight: 1, arbitrary: fc.record({ do: does('change seat'), where, changes: profile }) },
  { weight: 4, arbitrary: fc.record({ do: does('kick'), where, target: user, ban: fc.boolean(), owner }) },
  { weight: 2, arbitrary: fc.record({ do: does('read'), where, meant: fc.boolean(), joins: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: does('tick'),
      held: fc.array(where, { maxLength: 4 }),
      limit: fc.constantFrom(1, 2, 100, 100),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: does('stats') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: does('list'),
      after: fc.option(place, { nil: undefined }),
      limit: fc.constantFrom(1, 2, 100),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: does('arrive'), user, name: fc.option(name, { nil: undefined }) }) },
  { weight: 2, arbitrary: fc.record({ do: does('touch'), where, sits: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: does('depart'), user, off: mostly(0, fc.constantFrom(-1, 1), 3) }) },
);

/** Three people in a room: most stories that come to something begin so. */
const threeMembers: readonly Action[] = [
  {
    do: 'create',
    user: 0,
    candidates: [0],
    from: 0,
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
  .map(([before, acts]) => [...before, ...acts]);

/** How things stand when an act comes to a command. */
export interface Context {
  readonly shard: Shard;
  readonly history: History;
  readonly settings: EngineSettings;
  readonly now: number;
}

type ActionOf<Kind extends Action['do']> = Extract<Action, { do: Kind }>;
type UserAction = ActionOf<'arrive' | 'touch' | 'depart'>;

/** The command that an act comes to, as things stand. */
export function commandOf(act: Exclude<Action, { do: 'wait' }>, scene: Context): Command {
  switch (act.do) {
    case 'create':
      return createCommand(act, scene);
    case 'join': {
      const { code, ref, userId, session } = seatKeyOf(act.where, scene);
      return { kind: 'join', code, ref, by: joiningUser(userId, { session, profile: act.profile }) };
    }
    case 'resume':
      return { kind: 'resume', nodeId: NODE, ...seatKeyOf(act.where, scene) };
    case 'change room':
      return { kind: 'update', change: { of: 'room', to: act.changes }, ...authorizedKey(act, scene) };
    case 'change seat':
      return { kind: 'update', change: { of: 'seat', to: act.changes }, ...seatKeyOf(act.where, scene) };
    case 'kick':
      return { kind: 'kick', target: userOf(act.target), ban: act.ban, ...authorizedKey(act, scene) };
    case 'close':
      return { kind: 'close', ...authorizedKey(act, scene) };
    case 'read': {
      const { code, ref, userId } = seatKeyOf(act.where, scene);
      return { kind: 'read', code, ...(act.meant && { ref }), ...(act.joins && { joiner: userId }) };
    }
    case 'tick':
      return { kind: 'tick', shard: SHARD, held: act.held.map((where) => seatKeyOf(where, scene)), limit: act.limit };
    case 'stats':
      return { kind: 'stats', shard: SHARD };
    case 'list': {
      const { after, limit } = act;
      const behind = after === undefined ? {} : { after: codeOf(after, scene.settings.pool) };
      return { kind: 'list', shard: SHARD, limit, ...behind };
    }
    case 'arrive':
    case 'touch':
    case 'depart':
      return userCommand(act, scene);
    default:
      return { kind: act.do, ...seatKeyOf(act.where, scene) };
  }
}

function createCommand(act: ActionOf<'create'>, { history, settings: { pool } }: Context): Command {
  return {
    kind: 'create',
    shard: SHARD,
    candidates: act.candidates.map((place) => codeOf(place, pool)),
    from: act.from % pool.perShard,
    ref: refOf(history.refs.length + 1),
    ...(act.user !== undefined && { by: joiningUser(userOf(act.user), { profile: act.profile }) }),
    settings: { type: 'call', access: 'open', ...act.changes, maxUsers: act.maxUsers },
    ...(act.idempotencyKey !== undefined && { idempotencyKey: act.idempotencyKey }),
  };
}

function userCommand(act: UserAction, scene: Context): Command {
  const { history, now } = scene;
  const sessionOf = (userId: UserId, off: number) => ((history.sessions.get(userId) ?? now) + off) as SessionNumber;
  switch (act.do) {
    case 'arrive': {
      const { name } = act;
      return { kind: 'arrive', userId: userOf(act.user), nodeId: NODE, ...(name !== undefined && { name }) };
    }
    case 'touch': {
      const { code, ref, userId } = seatKeyOf(act.where, scene);
      const session = sessionOf(userId, act.where.off);
      return {
        kind: 'touch',
        userId,
        session,
        nodeId: NODE,
        connectedAt: now,
        seat: act.sits ? { code, ref } : null,
      };
    }
    case 'depart': {
      const userId = userOf(act.user);
      return { kind: 'depart', userId, session: sessionOf(userId, act.off) };
    }
  }
}

/** The host from its seat, or the owner from outside. */
function authorizedKey({ where, owner }: { where: Where; owner: boolean }, scene: Context): SeatKey | OwnerKey {
  const key = seatKeyOf(where, scene);
  return owner ? { code: key.code, ref: key.ref, owner } : key;
}

function seatKeyOf({ place, user, past, off }: Where, { shard, history, settings }: Context): SeatKey {
  const code = codeOf(place, settings.pool);
  const room = shard.rooms.get(code);
  const userId = userOf(user);
  const session = (room && seatOf(room, userId)?.session) ?? 1;
  const ref = past === undefined ? room?.ref : history.refs[past % Math.max(1, history.refs.length)];
  // A number of at least 1 is all that the brand promises to the rules.
  return { code, ref: ref ?? refOf(9_999), userId, session: Math.max(1, session + off) as SessionNumber };
}

const codeOf = (place: number, pool: Pool): RoomCode => codeAt(pool, SHARD, place % pool.perShard);
const userOf = (index: number): UserId => (USERS[index] ?? 'zoe') as UserId; // names of the right shape
