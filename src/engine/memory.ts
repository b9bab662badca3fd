/** The engine of a single process: the rules, over maps. */
import type { Command, Outcome, ShardCommand } from '../room/commands.ts';
import { feedEventsOf } from '../room/feed-events.ts';
import { SHARDS } from '../room/pool.ts';
import { applyRule, isUserCommand, shardOfCommand } from '../room/rules.ts';
import { applyWrites, createShard, type MutableShard, shiftShard } from '../room/shard.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import { createSteadyClock } from '../support/steady-clock.ts';
import { StoreRecovering } from '../support/store.ts';
import type { Engine, EngineSettings } from './engine.ts';
import { createMemoryFeed, type MemoryFeed } from './memory-feed.ts';
import { MemoryUsers } from './memory-users.ts';

/**
 * Its instants are those of the wall clock. When that is set, all instants in the store are moved by the step: what began a
 * minute ago still began a minute ago, so no deadline comes early or late, and whatever is read next is right.
 *
 * @param onStep is told of each step, in milliseconds.
 */
export function createMemoryEngine(
  settings: EngineSettings,
  clock: Clock = systemClock,
  onStep: (ms: number) => void = () => {},
): Engine {
  const shards = Array.from({ length: SHARDS }, () => createShard(clock.now()));
  const users = new MemoryUsers(settings.policy);
  const since = clock.now();
  const feed = createMemoryFeed(settings.nodeId, settings.feedMaxEvents, clock);
  const instant = createInstants(clock, (ms) => {
    for (const shard of shards) shiftShard(shard, ms);
    users.shift(ms);
    feed.shift(ms);
    onStep(ms);
  });
  return {
    name: 'memory',
    async apply<C extends Command>(command: C): Promise<Outcome<C>> {
      const now = instant();
      // The compiler does not follow the kind of the command through the narrowing.
      if (isUserCommand(command)) return users.apply(command, now) as Outcome<C>;
      return applyToShard(shards, feed, command, { ...settings, now }) as Outcome<C>;
    },
    // It never begins another epoch.
    onBehind: () => {},
    fanout: {
      adapter: undefined,
      isUp: () => true,
      live: async () => {},
      // There are no other nodes.
      deliver: async () => 0,
      broadcast: () => undefined,
      onEvent: () => {},
      announce: () => {},
      peers: () => [],
      send: () => {},
      leave: () => {},
      onMessage: () => {},
    },
    feed: {
      ...feed,
      async read(ask) {
        // Finds a step, for whose events a reader has to know it.
        instant();
        return feed.read(ask);
      },
    },
    health: () => ({ state: 'up', since }),
    nodes: async () => [settings.nodeId],
    sharedSecret: async (proposal) => proposal,
    close: async () => {},
  };
}

/** The time of the wall clock, which steps only after `onStep` has been told. */
function createInstants(clock: Clock, onStep: (ms: number) => void): () => number {
  let shifted = 0;
  const steady = createSteadyClock(clock, (step) => {
    const ms = Math.round(step);
    shifted += ms;
    onStep(ms);
  });
  return () => {
    const now = steady.now();
    return now + shifted;
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
  const result = applyRule(shard, command, context);
  // It loses nothing, so it never recovers; but the rules say what would be refused.
  if ('recoveringMs' in result) throw new StoreRecovering(result.recoveringMs);
  const { outcome, writes } = result;
  applyWrites(shard, writes);
  if (context.feedMaxEvents > 0) feed.append(feedEventsOf(command, outcome, context));
  return outcome;
}
