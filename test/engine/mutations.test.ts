/** Mutation tests: every planted fault in the Lua is found, by random commands and by a named example. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadScripts, readLuaFile, type Scripts } from '../../src/engine/redis/scripts.ts';
import { StoreUnavailable } from '../../src/support/store.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { contract, runExample } from './contract.ts';
import { runModel } from './model.ts';
import { feedMutants } from './mutants/feed.ts';
import type { Mutant } from './mutants/mutant.ts';
import { restoreMutants } from './mutants/restore.ts';
import { storageMutants } from './mutants/storage.ts';
import { transitionMutants } from './mutants/transitions.ts';
import { startRedisHarness } from './redis-harness.ts';

let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const mutants = [...storageMutants, ...transitionMutants, ...feedMutants, ...restoreMutants];
const examples = new Map(Object.values(contract).flatMap((part) => part.map((example) => [example.name, example])));

function mutated({ file, from, to }: Mutant): Scripts {
  return loadScripts((name) => {
    const text = readLuaFile(name);
    if (name !== file) return text;
    // A fault that is no longer one would be reported as a hole in the tests.
    if (text.split(from).length !== 2) throw new Error(`${file}.lua does not hold exactly once: ${from}`);
    return text.replace(from, () => to);
  });
}

/** The error of the attempt, `undefined` when it succeeded. */
async function errorOf(attempt: () => Promise<void>): Promise<unknown> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    // An outage is no finding.
    if (error instanceof StoreUnavailable) throw error;
    return error;
  }
}

/** Random commands do not find these in a reasonable time. */
const beyondRandom = new Set([
  'the newest ban is dropped when there are too many',
  'a user whose id is contained in a banned id is banned too',
  'a room that has ended is brought back',
  'the next node does not find a room under its new code',
]);

describe('the tests find that', () => {
  test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
    '%s',
    async (name, mutant) => {
      const example = examples.get(mutant.caughtBy);
      if (example === undefined) throw new Error(`no example is named: ${mutant.caughtBy}`);
      await using harness = await startRedisHarness(redis.url, mutated(mutant));
      expect(await errorOf(() => runExample(example, harness.make)), 'by the example').toBeDefined();
      if (beyondRandom.has(name)) return;
      // One seed for all: what is found today is found in every run.
      const random = () => runModel(harness, { numRuns: 450, endOnFailure: true, seed: 20_260_042 });
      expect(await errorOf(random), 'by random commands').toBeDefined();
    },
    120_000,
  );
});
