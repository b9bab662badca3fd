/** Plays scenarios on every stage. A scenario knows nothing of the stage: it spreads its clients by `nodes.url(i)`. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { ServerDependencies } from '../../../src/server/dependencies.ts';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { type Nodes, STAGES, startNodes } from '../../support/nodes.ts';

export type Scenario = (nodes: Nodes) => Promise<void>;

interface Piece {
  readonly options?: PartialOptions;
  readonly dependencies?: Partial<ServerDependencies>;
  /** For scenarios that mostly wait for deadlines: they do not mind each other, and the stages do not either. */
  readonly concurrent?: boolean;
  readonly scenarios: Readonly<Record<string, Scenario>>;
}

/** Wrong codes are guessed on purpose all the time here; the guess budget has tests of its own. */
const PATIENT: PartialOptions = { freeMisses: 1_000_000 };

export function play(title: string, { options, dependencies, concurrent = false, scenarios }: Piece): void {
  for (const stage of STAGES) {
    describe(`${title}: ${stage.stage}`, { concurrent }, () => {
      let nodes: Nodes;
      beforeAll(async () => {
        nodes = await startNodes(stage, { ...PATIENT, ...options }, dependencies);
      });
      afterAll(() => nodes[Symbol.asyncDispose]());
      for (const [name, scenario] of Object.entries(scenarios)) test(name, () => scenario(nodes));
    });
  }
}
