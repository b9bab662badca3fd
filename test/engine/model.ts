/**
 * Random sequences of commands, applied to the pure rules, the memory engine and the Redis engine side by side. They must
 * agree on every outcome, with its events, and on the feed; and the keys in Redis must hold exactly the state of the rules.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { EngineSettings } from '../../src/engine/engine.ts';
import { createMemoryEngine } from '../../src/engine/memory.ts';
import type { FeedEvent } from '../../src/protocol/feed.ts';
import type { UserId } from '../../src/protocol/ids.ts';
import type { Command, Outcome, ShardCommand, UserCommand } from '../../src/room/commands.ts';
import { leapInto, nextEpoch } from '../../src/room/epoch.ts';
import type { Recovering } from '../../src/room/recovery.ts';
import { applyRule, applyUserRule, isUserCommand } from '../../src/room/rules.ts';
import { applyWrites, createShard, type MutableShard } from '../../src/room/shard.ts';
import { recordTtl, type UserRecord } from '../../src/room/user.ts';
import { QUIET_TICK, SHARD } from '../room/fixtures.ts';
import { createHandClock, type HandClock, settingsOf } from './harness.ts';
import { type Action, actions, commandOf, type History } from './random-actions.ts';
import type { RedisHarness } from './redis-harness.ts';
import { expectedState } from './stored-state.ts';

/** Deadlines often coincide: most of them fall on a multiple of ten seconds. */
const POLICY = {
  leaseMs: 60_000,
  graceMs: 30_000,
  idleMs: 100_000,
  emptyMs: 50_000,
  maxAgeMs: 300_000,
  cooldownMs: 40_000,
  idempotencyMs: 20_000,
  recoveryMs: 0,
};

/** Few codes, so that they run out, cool and are used again. */
const PER_SHARD = 3;

/** Actions between two comparisons of the stored state. */
const BATCH = 8;

/** @throws at the first sequence that shows a difference */
export async function runModel(harness: RedisHarness, parameters: fc.Parameters<unknown>): Promise<void> {
  const property = fc.asyncProperty(actions, fc.boolean(), async (sequence, closeOnHostLeave) => {
    await runActions(sequence, settingsOf(PER_SHARD, { ...POLICY, closeOnHostLeave }), harness);
  });
  await fc.assert(property, parameters as fc.Parameters<[Action[], boolean]>); // the caller gives no examples
}

async function runActions(sequence: readonly Action[], settings: EngineSettings, harness: RedisHarness) {
  const clock = createHandClock();
  const rules = createRules(settings, clock);
  const memory = createMemoryEngine(settings, clock);
  const redis = await harness.make(settings, clock);
  await redis.apply({ kind: 'tick', shard: SHARD, held: [], limit: 1, ...QUIET_TICK });
  for (let begin = 0; begin < sequence.length; begin += BATCH) {
    // The next command depends on the rules alone, not on the engines' answers: a batch is sent without waiting.
    const steps = sequence.slice(begin, begin + BATCH).flatMap((action) => {
      if (action.do === 'wait') {
        clock.advance(action.ms);
        return [];
      }
      const command = commandOf(action, { ...rules, settings, now: clock.now() });
      const expected = rules.apply(command);
      return [{ command, expected, answers: Promise.all([memory.apply(command), redis.apply(command)]) }];
    });
    const answers = await Promise.all(steps.map((step) => step.answers));
    for (const [index, { command, expected }] of steps.entries()) {
      const [ofMemory, ofRedis] = answers[index] ?? [];
      expectSame(inFirstEpoch(expected), ofMemory, 'memory', command);
      expectSame(expected, ofRedis, 'redis', command);
    }
    const last = steps.at(-1)?.command;
    expectSame(expectedState(rules.shard, settings), await harness.storedState(settings), 'what redis holds', last);
    const [ofMemory, ofRedis] = await Promise.all([memory, redis].map(({ feed }) => feed.read({ limit: 1_000 })));
    expectSame(ofMemory?.events, ofRedis?.events, 'the feed in redis', last);
    expectSame([], gaps(ofMemory?.events ?? []), 'gaps in the feed', last);
  }
}

/** Events out of order: a room's revisions are 0, 1, 2 and so on, and nothing follows its end. */
function gaps(events: readonly FeedEvent[]): FeedEvent[] {
  const next = new Map<string, number>();
  return events.filter(({ ref, rev, type }) => {
    const inOrder = rev === (next.get(ref ?? '') ?? 0);
    next.set(ref ?? '', type === 'room_destroyed' ? Number.NaN : (rev ?? 0) + 1);
    return !inOrder;
  });
}

function expectSame(expected: unknown, actual: unknown, source: string, command: Command | undefined): void {
  // The cheap comparison first: `toEqual`, which reports the difference, would take most of the time.
  if (isDeepStrictEqual(actual, expected)) return;
  expect(actual, `${source} after ${JSON.stringify(command)}`).toEqual(expected);
}

/** The memory engine loses nothing: its epoch is the first one for ever. */
const inFirstEpoch = (outcome: unknown): unknown =>
  typeof outcome === 'object' && outcome !== null && 'epoch' in outcome ? { ...outcome, epoch: 1 } : outcome;

function beginEpoch(shard: MutableShard, now: number, { policy }: EngineSettings): void {
  const epoch = nextEpoch(shard.meta.epoch, now, policy);
  shard.meta = { ...shard.meta, epoch };
  for (const [code, room] of shard.rooms) shard.rooms.set(code, leapInto(room, epoch.number));
}

/** The rules, over one shard and some users. */
function createRules(settings: EngineSettings, clock: HandClock) {
  const shard = createShard(clock.now());
  // The first command to an empty Redis begins an epoch.
  beginEpoch(shard, clock.now(), settings);
  const records = new Map<UserId, { record: UserRecord; until: number }>();
  const history: History = { refs: [], sessions: new Map() };

  const applyToUser = (command: UserCommand) => {
    const now = clock.now();
    const stored = records.get(command.userId);
    const current = stored !== undefined && stored.until > now ? stored.record : undefined;
    const { outcome, record } = applyUserRule(current, command, now);
    if (record === null) records.delete(command.userId);
    else if (record !== undefined) {
      records.set(command.userId, { record, until: now + recordTtl(record, settings.policy) });
      history.sessions.set(command.userId, record.session);
    }
    return outcome;
  };

  const applyToShard = (command: ShardCommand) => {
    const result = applyRule(shard, command, { now: clock.now(), ...settings });
    if ('recoveringMs' in result) return result;
    const { outcome, writes } = result;
    applyWrites(shard, writes);
    if (command.kind === 'create' && outcome.ok) history.refs.push(command.ref);
    return outcome;
  };

  return {
    shard,
    history,
    apply: (command: Command): Outcome<Command> | Recovering =>
      isUserCommand(command) ? applyToUser(command) : applyToShard(command),
  };
}
