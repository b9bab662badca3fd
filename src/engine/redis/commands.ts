/**
 * The commands of an engine as scripts of Redis, one row each: the script is `lua/<kind>.lua`, the row encodes the command
 * and decodes the reply. `docs/how-to-add.md` lists the other files of a new command.
 */
import { z } from 'zod';
import { instant, member, revision, roomCode, sessionNumber } from '../../protocol/snapshot.ts';
import type { Urgency } from '../../redis/in-flight.ts';
import type { Command, Create, Outcome, Tick } from '../../room/commands.ts';
import type { Pool } from '../../room/pool.ts';
import { type Policy, toCopy, toSnapshot } from '../../room/room.ts';
import { MAX_BANS, newRoom } from '../../room/transitions.ts';
import { NodeBehind, StoreRecovering } from '../../support/store.ts';
import type { EngineSettings } from '../engine.ts';
import {
  type Encoded,
  encodeCreate,
  encodePlain,
  encodeRestore,
  encodeShardCommand,
  withoutBody,
} from './arguments.ts';
import { nodeId, storedRoom } from './fields.ts';
import type { Keys } from './keys.ts';
import {
  events,
  evicted,
  listedRoom,
  ok,
  poolStats,
  refused,
  restoredReply,
  revisionReply,
  roomKey,
  roomRevision,
  seatRefused,
  snapshot,
  snapshotReply,
} from './replies.ts';

interface Row<C extends Command> {
  /** Decides which Lua files the script shares with others, and how its keys are found. */
  readonly scope: 'shard' | 'user';
  readonly urgency: Urgency;
  /** Whether it can append to the feed: only then is the script told of the feed. */
  readonly writesFeed: boolean;
  readonly encode: (command: C, pool: Pool, keys: Keys) => Encoded;
  readonly decode: (reply: unknown, command: C, policy: Policy) => Outcome<C>;
}

type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;

export const COMMANDS: { readonly [Kind in Command['kind']]: Row<CommandOf<Kind>> } = {
  create: { scope: 'shard', urgency: 'ordinary', writesFeed: true, encode: encodeCreate, decode: decodeCreate },
  join: {
    scope: 'shard',
    urgency: 'ordinary',
    writesFeed: true,
    encode: ({ by, ...command }) => ({
      fields: { ...command, by: { ...by, profile: withoutBody(by.profile) } },
      bodies: [by.profile.metadata ?? ''],
    }),
    decode: parseAs(
      z.union([snapshotReply, refused('CODE_EXPIRED', 'BANNED', 'ROOM_LOCKED', 'ROOM_FULL', 'SESSION_EXPIRED')]),
    ),
  },
  leave: {
    scope: 'shard',
    urgency: 'vital',
    writesFeed: true,
    encode: encodePlain,
    decode: parseAs(z.union([revisionReply, seatRefused])),
  },
  suspend: {
    scope: 'shard',
    urgency: 'vital',
    writesFeed: true,
    encode: encodePlain,
    decode: parseAs(z.union([revisionReply, seatRefused])),
  },
  resume: {
    scope: 'shard',
    urgency: 'vital',
    writesFeed: true,
    encode: encodePlain,
    decode: parseAs(z.union([snapshotReply, seatRefused])),
  },
  renew: {
    scope: 'shard',
    urgency: 'vital',
    writesFeed: false,
    encode: encodePlain,
    decode: parseAs(z.union([z.object({ ok, rev: revision, now: instant }), seatRefused])),
  },
  update: {
    scope: 'shard',
    urgency: 'ordinary',
    writesFeed: true,
    encode: ({ change, ...command }) => ({
      fields: { ...command, change: { subject: change.subject, values: withoutBody(change.values) } },
      bodies: [change.values.metadata ?? ''],
    }),
    decode: parseAs(z.union([snapshotReply, seatRefused, refused('FORBIDDEN')])),
  },
  kick: {
    scope: 'shard',
    urgency: 'ordinary',
    writesFeed: true,
    encode: (command) => ({ fields: { ...command, maxBans: MAX_BANS }, bodies: [] }),
    decode: parseAs(z.union([revisionReply, seatRefused, refused('FORBIDDEN', 'PEER_NOT_FOUND', 'CONFLICT')])),
  },
  close: {
    scope: 'shard',
    urgency: 'ordinary',
    writesFeed: true,
    encode: encodePlain,
    decode: parseAs(z.union([revisionReply, seatRefused, refused('FORBIDDEN')])),
  },
  read: {
    scope: 'shard',
    urgency: 'bulk',
    writesFeed: false,
    encode: encodePlain,
    decode: parseAs(z.union([snapshot, refused('ROOM_NOT_FOUND', 'CODE_EXPIRED', 'UNCHANGED')])),
  },
  resolve: {
    scope: 'shard',
    urgency: 'ordinary',
    writesFeed: false,
    encode: encodePlain,
    decode: parseAs(
      z.union([
        roomRevision.pick({ ref: true, rev: true }).extend({ ok }),
        refused('ROOM_NOT_FOUND', 'CODE_EXPIRED', 'BANNED', 'ROOM_LOCKED', 'ROOM_FULL'),
      ]),
    ),
  },
  find: {
    scope: 'shard',
    urgency: 'ordinary',
    writesFeed: false,
    encode: encodePlain,
    decode: parseAs(z.union([z.object({ ok, state: member.shape.state }), refused('CODE_EXPIRED', 'NOT_IN_ROOM')])),
  },
  list: {
    scope: 'shard',
    urgency: 'bulk',
    writesFeed: false,
    encode: encodeShardCommand,
    decode: parseAs(z.object({ ok, rooms: z.array(listedRoom), more: z.boolean() })),
  },
  tick: { scope: 'shard', urgency: 'vital', writesFeed: true, encode: encodeShardCommand, decode: decodeTick },
  restore: {
    scope: 'shard',
    urgency: 'vital',
    writesFeed: false,
    encode: encodeRestore,
    decode: parseAs(z.union([restoredReply, refused('CODE_EXPIRED', 'POOL_EXHAUSTED')])),
  },
  cool: {
    scope: 'shard',
    urgency: 'vital',
    writesFeed: false,
    encode: encodeShardCommand,
    decode: parseAs(z.object({ ok })),
  },
  stats: {
    scope: 'shard',
    urgency: 'bulk',
    writesFeed: false,
    encode: encodePlain,
    decode: parseAs(poolStats.extend({ ok })),
  },
  arrive: {
    scope: 'user',
    urgency: 'ordinary',
    writesFeed: false,
    encode: encodePlain,
    decode: parseAs(
      z.object({
        ok,
        session: sessionNumber,
        connectedAt: instant,
        previous: z.object({ session: sessionNumber, nodeId, online: z.boolean() }).nullable(),
        seat: roomKey.nullable(),
      }),
    ),
  },
  touch: {
    scope: 'user',
    urgency: 'vital',
    writesFeed: false,
    // Left out, not null: null is a value in Lua.
    encode: (command) => ({ fields: { ...command, seat: command.seat ?? undefined }, bodies: [] }),
    decode: parseAs(z.union([z.object({ ok, now: instant }), refused('SESSION_EXPIRED')])),
  },
  depart: {
    scope: 'user',
    urgency: 'vital',
    writesFeed: false,
    encode: encodePlain,
    decode: parseAs(z.union([z.object({ ok }), refused('SESSION_EXPIRED')])),
  },
};

export const urgencyOf = ({ kind }: Command): Urgency => COMMANDS[kind].urgency;

/** What is not in the command. */
export interface Circumstances {
  /** The life of Redis as the node knows it, see `lives.ts`. */
  readonly life?: string | undefined;
  /** The epoch in which the node has restored what it holds in the shard of the command. */
  readonly knownEpoch?: number | undefined;
  /** Replaces the time of Redis: only tests give it. */
  readonly now?: number | undefined;
}

export function encode(
  command: Command,
  settings: EngineSettings,
  keys: Keys,
  { life, knownEpoch, now }: Circumstances = {},
): string[] {
  const { policy, pool } = settings;
  const row = rowOf(command);
  const { fields, bodies } = row.encode(command, pool, keys);
  const feed = row.writesFeed ? feedTarget(settings, keys) : undefined;
  return [JSON.stringify({ ...fields, policy, feed, life, knownEpoch, now }), ...bodies];
}

/** Of any script of a shard, in place of its own reply. */
const recovering = z.object({ reason: z.literal('RECOVERING'), recoveringMs: z.number(), behind: z.boolean() });

/**
 * The outcome that the reply of a command's script stands for.
 *
 * @throws StoreRecovering
 * @throws when it is no reply of that script: the Lua and its row disagree.
 */
export function decode<C extends Command>(command: C, text: unknown, policy: Policy): Outcome<C> {
  const reply: unknown = JSON.parse(z.string().parse(text));
  if (typeof reply === 'object' && reply !== null && 'recoveringMs' in reply && 'reason' in reply) {
    const { recoveringMs, behind } = recovering.parse(reply);
    throw behind ? new NodeBehind(recoveringMs) : new StoreRecovering(recoveringMs);
  }
  return rowOf(command).decode(reply, command, policy);
}

/** The feed that a script appends to; undefined when no feed is kept. */
export const feedTarget = ({ feedMaxEvents, nodeId }: EngineSettings, keys: Keys) =>
  feedMaxEvents === 0 ? undefined : { channel: keys.feedChannel, kept: feedMaxEvents, nodeId };

/** The table pairs each row with its command; the compiler does not follow that through the union of kinds. */
const rowOf = <C extends Command>(command: C): Row<C> => COMMANDS[command.kind] as unknown as Row<C>;

function parseAs<Reply>(schema: z.ZodType<Reply>): (reply: unknown) => Reply {
  return (reply) => schema.parse(reply);
}

const createReply = z.union([
  z.object({ ok, code: roomCode, now: instant }),
  z.object({ ok: z.literal(false), reason: z.literal('FULL'), nextFreeInMs: poolStats.shape.nextFreeInMs }),
  roomKey.extend({ ok: z.literal(false), reason: z.literal('REPLAYED') }),
]);

/** The script replies with the code and the instant alone: the rest of the room follows from the command, by the rules. */
function decodeCreate(reply: unknown, command: Create, policy: Policy): Outcome<Create> {
  const created = createReply.parse(reply);
  if (!created.ok) return created;
  return { ok: true, room: toSnapshot(newRoom(command, created.code, created.now, policy)), events: [] };
}

const tickReply = z.object({
  ok,
  events,
  evicted,
  /** Indexes into `held`. */
  lost: z.array(z.int().nonnegative()),
  revs: z.array(roomRevision.extend({ seats: z.int() })),
  epoch: z.number(),
  recoveringMs: z.number(),
  infos: z.array(storedRoom),
  more: z.boolean(),
  poolStats,
});

function decodeTick(reply: unknown, command: Tick): Outcome<Tick> {
  const ticked = tickReply.parse(reply);
  const lost = new Set(ticked.lost);
  const infos = ticked.infos.map((room) => toCopy({ ...room, seats: [] }));
  return { ...ticked, infos, lost: command.held.filter((_, index) => lost.has(index)) };
}
