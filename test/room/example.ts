/** One row of the table of a rule: what was before, what is done, what comes of it. */
import { expect } from 'vitest';
import type { Policy } from '../../src/room/room.ts';
import { eventsOf } from './events-in-words.ts';
import {
  createHarness,
  evictedOf,
  FIRST_CODE,
  type OutcomeWord,
  outcomeWord,
  run,
  type Step,
  seatsOf,
} from './harness.ts';

export interface Example {
  readonly rule: string;
  readonly policy?: Partial<Policy>;
  readonly given: readonly Step[];
  readonly act: Step;
  /** `ok` when not named. A refusal must leave the room untouched. */
  readonly outcome?: OutcomeWord;
  readonly events?: readonly string[];
  readonly evicted?: readonly string[];
  /** Afterwards. */
  readonly seats: string;
}

export function check(example: Example): void {
  const harness = createHarness(example.policy);
  run(harness, ...example.given);
  const before = harness.shard.rooms.get(FIRST_CODE);
  const outcome = run(harness, example.act);
  expect({
    says: outcomeWord(outcome),
    events: eventsOf(outcome),
    evicted: evictedOf(outcome),
    seats: seatsOf(harness),
  }).toEqual({
    says: example.outcome ?? 'ok',
    events: example.events ?? [],
    evicted: example.evicted ?? [],
    seats: example.seats,
  });
  if (example.outcome !== undefined) expect(harness.shard.rooms.get(FIRST_CODE)).toBe(before);
}
