/** The engine of a single process: the rules, over maps. */
import type { Command, Outcome, ShardCommand } from '../room/commands.ts';
import { feedEventsOf } from '../room/feed-events.ts';
import { SHARDS } from '../room/pool.ts';
import { applyRule, isUserCommand, shardOfCommand } from '../room/rules.ts';
import { applyWrites, createShard, type MutableShard } from '../room/shard.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import type { Engine, EngineSettings } from './engine.ts';
import { createMemoryFeed, type MemoryFeed } from './memory-feed.ts';
import { MemoryUsers } from './memory-users.ts';

export function createMemoryEngine(settings: EngineSettings, clock: Clock = systemClock): Engine {
  const shards = Array.from({ length: SHARDS }, createShard);
  const users = new MemoryUsers(settings.policy);
  const since = clock.now();
  const feed = createMemoryFeed(settings.nodeId, settings.feedMaxEvents, clock);
  return {
    name: 'memory',
    async apply<C extends Command>(command: C): Promise<Outcome<C>> {
      const now = clock.now();
      // The compiler does not follow the kind of the command through the narrowing.
      if (isUserCommand(command)) return users.apply(command, now) as Outcome<C>;
      return applyToShard(shards, feed, command, { ...settings, now }) as Outcome<C>;
    },
    fanout: {
      adapter: undefined,
      up: true,
      live: async () => {},
      // There are no other nodes.
      async countReceivers(send) {
        send();
        return 0;
      },
      send: () => {},
      onMessage: () => {},
    },
    feed,
    health: () => ({ state: 'up', since }),
    nodes: async () => [settings.nodeId],
    sharedSecret: async (proposal) => proposal,
    close: async () => {},
  };
}

function applyToShard(
  shards: readonly MutableShard[],
  feed: MemoryFeed,
  command: ShardCommand,
  context: EngineSettings & { readonly now: number },
): Outcome<ShardCommand> {
  const shard = shards[shardOfCommand(command)];
  if (shard === undefined) throw new RangeError('no such shard');
  const { outcome, writes } = applyRule(shard, command, context);
  applyWrites(shard, writes);
  if (context.feedMaxEvents > 0) feed.append(feedEventsOf(command, outcome, context));
  return outcome;
}
