/**
 * Random sequences of commands, applied to the pure rules, the memory engine and the Redis engine side by side. They must
 * agree on every outcome, with its events, and on the feed; and the keys in Redis must hold exactly the state of the rules.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Engine, EngineSettings } from '../../src/engine/engine.ts';
import { createMemoryEngine } from '../../src/engine/memory.ts';
import type { FeedEvent } from '../../src/protocol/feed.ts';
import type { UserId } from '../../src/protocol/ids.ts';
import type { Command, Outcome, ShardCommand, UserCommand } from '../../src/room/commands.ts';
import { leapInto, nextEpoch } from '../../src/room/epoch.ts';
import type { Recovering } from '../../src/room/recovery.ts';
import { applyRule, applyUserRule, isUserCommand } from '../../src/room/rules.ts';
import { applyWrites, createShard, type MutableShard, type Shard } from '../../src/room/shard.ts';
import { recordTtl, type UserRecord } from '../../src/room/user.ts';
import { StoreRecovering } from '../../src/support/store.ts';
import { QUIET_TICK, SHARD } from '../room/fixtures.ts';
import type { Action } from './actions.ts';
import { createHandClock, type HandClock, settingsOf } from './harness.ts';
import { actions, commandOf, type History } from './random-actions.ts';
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

/** The same with a Redis that loses its state, or a part of it, every few commands. The memory engine cannot do that. */
export async function runLossyModel(harness: RedisHarness, parameters: fc.Parameters<unknown>): Promise<void> {
  const settings = settingsOf(PER_SHARD, { ...POLICY, recoveryMs: 15_000 });
  const losses = fc.array(fc.constantFrom('life', 'life', 'everything', undefined), { minLength: 7, maxLength: 7 });
  const property = fc.asyncProperty(actions, losses, async (sequence, lost) => {
    const clock = createHandClock();
    const rules = createRules(settings, clock);
    const redis = await harness.make(settings, clock);
    await redis.apply({ kind: 'tick', shard: SHARD, held: [], limit: 1, ...QUIET_TICK });
    for (let begin = 0; begin < sequence.length; begin += BATCH) {
      const what = lost[begin / BATCH];
      if (what !== undefined) {
        await harness.lose(what);
        rules.lose(what);
      }
      const batch: readonly Action[] = [FIRST_TICK, ...sequence.slice(begin, begin + BATCH)];
      for (const { command, expected, answer } of startBatch(batch, rules, { settings, clock }, redis)) {
        expectSame(expected, await answer, 'redis', command);
      }
      rules.remember();
      expectSame(
        expectedState(rules.shard, settings),
        await harness.storedState(settings),
        'what redis holds',
        undefined,
      );
    }
  });
  await fc.assert(property, parameters as fc.Parameters<[Action[], ('life' | 'everything' | undefined)[]]>);
}

/** Begins the new epoch, in Redis as in the rules. */
const FIRST_TICK: Action = { do: 'tick', held: [], limit: 1 };

/** The next command depends on the rules alone, not on the engine's answers: a batch is sent without waiting. */
function startBatch(
  batch: readonly Action[],
  rules: Rules,
  { settings, clock }: { settings: EngineSettings; clock: HandClock },
  engine: Pick<Engine, 'apply'>,
) {
  return batch.flatMap((action) => {
    if (action.do === 'wait') {
      clock.advance(action.ms);
      return [];
    }
    if (action.do === 'restore' && rules.history.rooms.length === 0) return [];
    const command = commandOf(action, { ...rules, settings, now: clock.now() });
    const answer = engine.apply(command).catch((error: unknown) => {
      if (error instanceof StoreRecovering) return { recoveringMs: error.retryAfterMs };
      throw error;
    });
    return [{ command, expected: rules.apply(command), answer }];
  });
}

async function runActions(sequence: readonly Action[], settings: EngineSettings, harness: RedisHarness) {
  const clock = createHandClock();
  const rules = createRules(settings, clock);
  const memory = createMemoryEngine(settings, clock);
  const redis = await harness.make(settings, clock);
  await redis.apply({ kind: 'tick', shard: SHARD, held: [], limit: 1, ...QUIET_TICK });
  for (let begin = 0; begin < sequence.length; begin += BATCH) {
    const both = { apply: (command: Command) => Promise.all([memory.apply(command), redis.apply(command)]) };
    const steps = startBatch(sequence.slice(begin, begin + BATCH), rules, { settings, clock }, both as never);
    const answers = await Promise.all(steps.map((step) => step.answer));
    for (const [index, { command, expected }] of steps.entries()) {
      const [ofMemory, ofRedis] = (answers[index] ?? []) as readonly unknown[];
      expectSame(expected, ofMemory, 'memory', command);
      expectSame(expected, ofRedis, 'redis', command);
    }
    rules.remember();
    const last = steps.at(-1)?.command;
    expectSame(expectedState(rules.shard, settings), await harness.storedState(settings), 'what redis holds', last);
    const [ofMemory, ofRedis] = await Promise.all([memory, redis].map(({ feed }) => feed.read({ limit: 1_000 })));
    expectSame(ofMemory?.events, ofRedis?.events, 'the feed in redis', last);
    expectSame([], gaps(ofMemory?.events ?? [], rules.restored), 'gaps in the feed', last);
  }
}

/** Events out of order: a room's revisions are 0, 1, 2 and so on, and nothing follows its end, unless it is restored. */
function gaps(events: readonly FeedEvent[], restored: ReadonlySet<string>): FeedEvent[] {
  const next = new Map<string, number>();
  return events.filter(({ ref, rev, type }) => {
    if (restored.has(ref ?? '')) return false;
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

function beginEpoch(shard: MutableShard, now: number, { policy }: EngineSettings): void {
  shard.meta = { ...shard.meta, epoch: nextEpoch(shard.meta.epoch, now, policy) };
}

/** As the scripts load it: a room leaps when it is loaded, and is stored so when it is next written. */
const inEpoch = (shard: Shard): Shard => ({
  ...shard,
  rooms: new Map([...shard.rooms].map(([code, room]) => [code, leapInto(room, shard.meta.epoch.number)])),
});

type Rules = ReturnType<typeof createRules>;

/** The rules, over one shard and some users. */
function createRules(settings: EngineSettings, clock: HandClock) {
  const shard = createShard();
  // The first command to an empty Redis begins an epoch.
  beginEpoch(shard, clock.now(), settings);
  const records = new Map<UserId, { record: UserRecord; until: number }>();
  const restored = new Set<string>();
  const history: History = { refs: [], sessions: new Map(), rooms: [] };

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
    const result = applyRule(inEpoch(shard), command, { now: clock.now(), ...settings });
    if ('recoveringMs' in result) return result;
    const { outcome, writes } = result;
    applyWrites(shard, writes);
    if (command.kind === 'create' && outcome.ok) history.refs.push(command.ref);
    if (command.kind === 'restore') restored.add(command.ref);
    return outcome;
  };

  return {
    shard: shard as Shard,
    history,
    restored,
    /** Its rooms as they are now can be restored later. */
    remember: () => history.rooms.push(...shard.rooms.values()),
    lose(what: 'life' | 'everything') {
      if (what === 'everything') {
        for (const map of [shard.rooms, shard.cooling, shard.idempotency, shard.moved, records]) map.clear();
        shard.meta = createShard(0).meta;
      }
      beginEpoch(shard, clock.now(), settings);
    },
    apply: (command: Command): Outcome<Command> | Recovering =>
      isUserCommand(command) ? applyToUser(command) : applyToShard(command),
  };
}
