/**
 * Random stories, told to the pure rules, to the memory engine and to the Redis engine at once. They must agree on the
 * outcome of every step, with its events, and on the feed, and Redis must hold exactly what the rules say it does.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { EngineSettings } from '../../src/engine/engine.ts';
import { createMemoryEngine } from '../../src/engine/memory.ts';
import type { FeedEvent } from '../../src/protocol/feed.ts';
import type { UserId } from '../../src/protocol/ids.ts';
import type { Command, Outcome, ShardCommand, UserCommand } from '../../src/room/commands.ts';
import { applyRule, applyUserRule, isUserCommand } from '../../src/room/rules.ts';
import { applyWrites, createShard } from '../../src/room/shard.ts';
import { recordTtl, type UserRecord } from '../../src/room/user.ts';
import { createHandClock, type HandClock, settingsOf } from './harness.ts';
import { type Action, actions, commandOf, type History } from './random-actions.ts';
import type { RedisHarness } from './redis-harness.ts';
import { expectedState } from './stored-state.ts';

/** Times that meet each other often: most deadlines fall on a multiple of ten seconds. */
const POLICY = {
  leaseMs: 60_000,
  graceMs: 30_000,
  idleMs: 100_000,
  emptyMs: 50_000,
  maxAgeMs: 300_000,
  cooldownMs: 40_000,
  idempotencyMs: 20_000,
};

/** So few codes that they run out, cool and are used again. */
const PER_SHARD = 3;

/** Steps between two looks into Redis. */
const BATCH = 8;

/** Plays stories until one shows a difference, which is thrown, or all have been played. */
export async function runModel(harness: RedisHarness, parameters: fc.Parameters<unknown>): Promise<void> {
  const property = fc.asyncProperty(actions, fc.boolean(), async (acts, closeOnHostLeave) => {
    await runActions(acts, settingsOf(PER_SHARD, { ...POLICY, closeOnHostLeave }), harness);
  });
  await fc.assert(property, parameters as fc.Parameters<[Action[], boolean]>); // the caller gives no examples
}

async function runActions(acts: readonly Action[], settings: EngineSettings, harness: RedisHarness) {
  const clock = createHandClock();
  const rules = createRules(settings, clock);
  const memory = createMemoryEngine(settings, clock);
  const redis = await harness.make(settings, clock);
  for (let begin = 0; begin < acts.length; begin += BATCH) {
    // Whatever the engines answer, the rules know what comes next: a chapter is sent off in one go.
    const told = acts.slice(begin, begin + BATCH).flatMap((act) => {
      if (act.do === 'wait') {
        clock.advance(act.ms);
        return [];
      }
      const command = commandOf(act, { ...rules, settings, now: clock.now() });
      const right = rules.apply(command);
      return [{ command, right, answers: Promise.all([memory.apply(command), redis.apply(command)]) }];
    });
    const answers = await Promise.all(told.map((step) => step.answers));
    for (const [index, { command, right }] of told.entries()) {
      const [ofMemory, ofRedis] = answers[index] ?? [];
      agree(right, ofMemory, 'memory', command);
      agree(right, ofRedis, 'redis', command);
    }
    const last = told.at(-1)?.command;
    agree(expectedState(rules.shard, settings), await harness.storedState(settings), 'what redis holds', last);
    const [ofMemory, ofRedis] = await Promise.all([memory, redis].map(({ feed }) => feed.read({ limit: 1_000 })));
    agree(ofMemory?.events, ofRedis?.events, 'the feed in redis', last);
    agree([], gaps(ofMemory?.events ?? []), 'gaps in the feed', last);
  }
}

/** Of every room from 0 on, each revision once, in order, and nothing after its end. */
function gaps(events: readonly FeedEvent[]): FeedEvent[] {
  const next = new Map<string, number>();
  return events.filter(({ ref, rev, type }) => {
    const right = rev === (next.get(ref ?? '') ?? 0);
    next.set(ref ?? '', type === 'room_destroyed' ? Number.NaN : (rev ?? 0) + 1);
    return !right;
  });
}

function agree(right: unknown, other: unknown, who: string, command: Command | undefined): void {
  // The quick look first: the thorough one, which tells where the difference is, takes most of the time of a story.
  if (isDeepStrictEqual(other, right)) return;
  expect(other, `${who} after ${JSON.stringify(command)}`).toEqual(right);
}

/** The rules themselves, over one shard and some users. */
function createRules(settings: EngineSettings, clock: HandClock) {
  const shard = createShard();
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
    const { outcome, writes } = applyRule(shard, command, { now: clock.now(), ...settings });
    applyWrites(shard, writes);
    if (command.kind === 'create' && outcome.ok) history.refs.push(command.ref);
    return outcome;
  };

  return {
    shard,
    history,
    apply: (command: Command): Outcome<Command> =>
      isUserCommand(command) ? applyToUser(command) : applyToShard(command),
  };
}
