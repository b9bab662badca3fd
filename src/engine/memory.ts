/** The engine of a single process: a Map, and the rules. */
import type { UserId } from '../protocol/ids.ts';
import type { Command, Outcome, ShardCommand, UserCommand } from '../room/commands.ts';
import { SHARDS, shardOf } from '../room/pool.ts';
import { createShard, type MutableShard, write } from '../room/shard.ts';
import { tick } from '../room/tick.ts';
import * as transitions from '../room/transitions.ts';
import * as users from '../room/user.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import type { Engine, EngineSettings } from './engine.ts';

/** The rules of the room commands by the names of the commands. */
const RULES = { ...transitions, tick };

export function createMemoryEngine(settings: EngineSettings, clock: Clock = systemClock): Engine {
  const shards = Array.from({ length: SHARDS }, createShard);
  const records = createRecords(settings);
  const since = clock.now();
  return {
    name: 'memory',
    async apply<C extends Command>(command: C): Promise<Outcome<C>> {
      const outcome = isUserCommand(command)
        ? records.apply(command, clock.now())
        : applyToShard(shards, command, { now: clock.now(), ...settings });
      // The outcome is the one of this command's kind: both tables are keyed by it.
      return outcome as Outcome<C>;
    },
    fanout: {
      adapter: undefined,
      live: async () => {},
      // Whoever is not on this node is nowhere.
      async receivers(send) {
        send();
        return 0;
      },
      tell: () => {},
      listen: () => {},
    },
    health: () => ({ state: 'up', since }),
    nodes: async () => [settings.nodeId],
    sharedSecret: async (proposal) => proposal,
    close: async () => {},
  };
}

function applyToShard(
  shards: readonly MutableShard[],
  command: ShardCommand,
  circumstances: transitions.Circumstances,
) {
  const shard = shards[shardIndex(command)];
  if (shard === undefined) throw new RangeError('no such shard');
  // One signature for all: the compiler does not pair a rule with its command through the union of kinds.
  const rule = RULES[command.kind] as (
    shard: MutableShard,
    command: ShardCommand,
    circumstances: transitions.Circumstances,
  ) => transitions.Step<ShardCommand>;
  const { outcome, writes } = rule(shard, command, circumstances);
  write(shard, writes);
  return outcome;
}

const shardIndex = (command: ShardCommand): number => ('code' in command ? shardOf(command.code) : command.shard);

const isUserCommand = (command: Command): command is UserCommand =>
  command.kind === 'arrive' || command.kind === 'touch' || command.kind === 'depart';

const SWEEP_MS = 1000;

/** The users' records, each dropped when nobody has touched it for its time. */
function createRecords({ policy }: EngineSettings) {
  const records = new Map<UserId, { record: users.UserRecord; until: number }>();

  const step = (command: UserCommand, record: users.UserRecord | undefined, now: number) => {
    switch (command.kind) {
      case 'arrive':
        return users.arrive(record, command, now);
      case 'touch':
        return users.touch(record, command, now);
      case 'depart':
        return users.depart(record, command, now);
    }
  };

  /** Writing moves a record to the end of the map, so the ones that expire next stand at its beginning. */
  let sweptAt = 0;
  const sweep = (now: number) => {
    // Not every time: V8 walks over the holes that deleted records leave at the beginning.
    if (now - sweptAt < SWEEP_MS) return;
    sweptAt = now;
    for (const [userId, { until }] of records) {
      if (until > now) return;
      records.delete(userId);
    }
  };

  return {
    apply(command: UserCommand, now: number) {
      sweep(now);
      const kept = records.get(command.userId);
      const { outcome, record } = step(command, kept && kept.until > now ? kept.record : undefined, now);
      if (record !== undefined) records.delete(command.userId);
      if (record) records.set(command.userId, { record, until: now + users.recordTtl(record, policy) });
      return outcome;
    },
  };
}
