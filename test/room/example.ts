/** One row of the table of a rule: what was before, what is done, what comes of it. */
import { expect } from 'vitest';
import type { Policy } from '../../src/room/room.ts';
import { createStage, evicted, FIRST_CODE, play, type Said, type Step, said, seats, told } from './stage.ts';

export interface Example {
  readonly rule: string;
  readonly policy?: Partial<Policy>;
  readonly given: readonly Step[];
  readonly act: Step;
  /** `ok` when not named. A refusal must leave the room untouched. */
  readonly says?: Said;
  readonly told?: readonly string[];
  readonly evicted?: readonly string[];
  /** Afterwards. */
  readonly seats: string;
}

export function check(example: Example): void {
  const stage = createStage(example.policy);
  play(stage, ...example.given);
  const before = stage.shard.rooms.get(FIRST_CODE);
  const outcome = play(stage, example.act);
  expect({ says: said(outcome), told: told(outcome), evicted: evicted(outcome), seats: seats(stage) }).toEqual({
    says: example.says ?? 'ok',
    told: example.told ?? [],
    evicted: example.evicted ?? [],
    seats: example.seats,
  });
  if (example.says !== undefined) expect(stage.shard.rooms.get(FIRST_CODE)).toBe(before);
}
