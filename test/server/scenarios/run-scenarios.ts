/**
 * Runs scenarios on every topology: memory, one node, two nodes. A scenario does not know which: it spreads its clients
 * over the nodes by `nodes.url(i)`.
 */
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { ServerDependencies } from '../../../src/server/dependencies.ts';
import type { PartialOptions } from '../../../src/server/options/options.ts';
import { type Nodes, startNodes, TOPOLOGIES } from '../../support/nodes.ts';

export type Scenario = (nodes: Nodes) => Promise<void>;

interface ScenarioSuite {
  readonly options?: PartialOptions;
  readonly dependencies?: Partial<ServerDependencies>;
  /** Runs the scenarios and the topologies at the same time: for scenarios that mostly wait for deadlines. */
  readonly concurrent?: boolean;
  readonly scenarios: Readonly<Record<string, Scenario>>;
}

/** Scenarios try wrong codes on purpose; the limit of guesses has tests of its own. */
const UNTHROTTLED: PartialOptions = { freeMisses: 1_000_000 };

export function runScenarios(
  title: string,
  { options, dependencies, concurrent = false, scenarios }: ScenarioSuite,
): void {
  for (const topology of TOPOLOGIES) {
    describe(`${title}: ${topology.name}`, { concurrent }, () => {
      let nodes: Nodes | undefined;
      beforeAll(async () => {
        nodes = await startNodes(topology, { ...UNTHROTTLED, ...options }, dependencies);
      });
      // No nodes: starting them failed, and that error alone is the report.
      afterAll(() => nodes?.[Symbol.asyncDispose]());
      for (const [name, scenario] of Object.entries(scenarios)) test(name, () => scenario(started(nodes)));
    });
  }
}

function started(nodes: Nodes | undefined): Nodes {
  if (nodes === undefined) throw new Error('the nodes have not started');
  return nodes;
}
