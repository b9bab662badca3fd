/** The dispatcher of the rules: one row per command. */
import type { Command, ShardCommand, UserCommand } from './commands.ts';
import { cool } from './cool.ts';
import { recoveringFor } from './epoch.ts';
import { list } from './list.ts';
import { shardOf } from './pool.ts';
import { isDeferred, isRefusedMeanwhile, type Recovering } from './recovery.ts';
import { restore } from './restore.ts';
import type { Shard, Writes } from './shard.ts';
import { tick } from './tick.ts';
import {
  close,
  create,
  find,
  join,
  kick,
  leave,
  type RuleContext,
  type RuleResult,
  read,
  renew,
  resolve,
  resume,
  stats,
  suspend,
  update,
} from './transitions.ts';
import { arrive, depart, touch, type UserRecord, type UserRuleResult } from './user.ts';

type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;
type ShardRule<C extends ShardCommand> = (shard: Shard, command: C, context: RuleContext) => RuleResult<C>;
type UserRule<C extends UserCommand> = (record: UserRecord | undefined, command: C, now: number) => UserRuleResult<C>;

export const SHARD_RULES: { readonly [Kind in ShardCommand['kind']]: ShardRule<CommandOf<Kind>> } = {
  create,
  join,
  leave,
  suspend,
  resume,
  renew,
  update,
  kick,
  close,
  read,
  resolve,
  find,
  list,
  tick,
  restore,
  cool,
  stats,
};

export const USER_RULES: { readonly [Kind in UserCommand['kind']]: UserRule<CommandOf<Kind>> } = {
  arrive,
  touch,
  depart,
};

/** Does not change the shard: the next state is in the result's `writes`. */
export function applyRule<C extends ShardCommand>(
  shard: Shard,
  command: C,
  context: RuleContext,
): RuleResult<C> | Recovering {
  const recoveringMs = recoveringFor(shard.meta.epoch, context.now);
  if (recoveringMs > 0 && isDeferred(command)) return { recoveringMs };
  // The table pairs each rule with its command; the compiler does not follow that through the union of kinds.
  const rule = SHARD_RULES[command.kind] as unknown as ShardRule<C>;
  const result = rule(shard, command, context);
  if (recoveringMs > 0 && isRefusedMeanwhile(command, result.outcome)) return { recoveringMs };
  return { ...result, writes: rememberEnded(shard, result.writes) };
}

/** A node that has not heard of the end of a room must not bring it back. Without an epoch before, there is nothing to bring. */
function rememberEnded(shard: Shard, writes: Writes): Writes {
  if (writes.rooms === undefined) return writes;
  const ended = [...writes.rooms].flatMap(([code, next]) => {
    const before = shard.rooms.get(code);
    return next === null && before !== undefined && before.leapedTo !== null ? [[before.ref, null] as const] : [];
  });
  return ended.length === 0 ? writes : { ...writes, moved: new Map(ended) };
}

/** Does not change the record: the next one is in the result. */
export function applyUserRule<C extends UserCommand>(
  record: UserRecord | undefined,
  command: C,
  now: number,
): UserRuleResult<C> {
  const rule = USER_RULES[command.kind] as unknown as UserRule<C>; // as above
  return rule(record, command, now);
}

export const isUserCommand = (command: Command): command is UserCommand => command.kind in USER_RULES;

/** The shard that a command is about. */
export const shardOfCommand = (command: ShardCommand): number =>
  'code' in command ? shardOf(command.code) : command.shard;
