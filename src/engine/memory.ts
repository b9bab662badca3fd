/** The engine of a single process: a Map, and the rules. */
import type { RoomFeedEvent } from '../protocol/feed.ts';
import type { UserId } from '../protocol/ids.ts';
import type { Command, ShardCommand, UserCommand } from '../room/commands.ts';
import { list } from '../room/list.ts';
import type { Outcome } from '../room/outcomes.ts';
import { SHARDS, shardOf } from '../room/pool.ts';
import { published, publishedCreate } from '../room/published.ts';
import { createShard, type MutableShard, write } from '../room/shard.ts';
import { tick } from '../room/tick.ts';
import * as transitions from '../room/transitions.ts';
import * as users from '../room/user.ts';
import { type Clock, systemClock } from '../support/clock.ts';
import type { Engine, EngineSettings } from './engine.ts';
import { createMemoryDeliveries } from './memory-deliveries.ts';
import { createMemoryFeed } from './memory-feed.ts';

/** The rules of the room commands by the names of the commands. */
const RULES = { ...transitions, list, tick };

export function createMemoryEngine(settings: EngineSettings, clock: Clock = systemClock): Engine {
  const shards = Array.from({ length: SHARDS }, createShard);
  const records = createRecords(settings);
  const since = clock.now();
  const feed = createMemoryFeed(settings.nodeId, settings.feedMaxEvents, clock);
  return {
    name: 'memory',
    async apply<C extends Command>(command: C): Promise<Outcome<C>> {
      const now = clock.now();
      if (isUserCommand(command)) return records.apply(command, now) as Outcome<C>; // as below
      const outcome = applyToShard(shards, command, { now, ...settings });
      if (settings.feedMaxEvents > 0) feed.append(publishedBy(command, outcome, { ...settings, now }));
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
    feed,
    deliveries: createMemoryDeliveries(feed, clock),
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

/** What a command has done, as the feed tells it. */
function publishedBy(
  command: ShardCommand,
  outcome: Outcome<ShardCommand>,
  at: EngineSettings & { readonly now: number },
): RoomFeedEvent[] {
  if (command.kind === 'create') {
    if (!('room' in outcome)) return [];
    const { code } = outcome.room;
    const made = [transitions.foundedRoom, transitions.opened].map((rule) => rule(command, code, at.now, at.policy));
    const [founded, opened] = made;
    return founded && opened ? publishedCreate(founded, opened, at) : [];
  }
  return 'events' in outcome ? outcome.events.flatMap((event) => published(event, at)) : [];
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
