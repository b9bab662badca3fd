/** The dispatcher of the rules: one row per command. */
import type { Command, ShardCommand, UserCommand } from './commands.ts';
import { list } from './list.ts';
import { shardOf } from './pool.ts';
import type { Shard } from './shard.ts';
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
  stats,
};

export const USER_RULES: { readonly [Kind in UserCommand['kind']]: UserRule<CommandOf<Kind>> } = {
  arrive,
  touch,
  depart,
};

/** Does not change the shard: the next state is in the result's `writes`. */
export function applyRule<C extends ShardCommand>(shard: Shard, command: C, context: RuleContext): RuleResult<C> {
  // The table pairs each rule with its command; the compiler does not follow that through the union of kinds.
  const rule = SHARD_RULES[command.kind] as unknown as ShardRule<C>;
  return rule(shard, command, context);
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
