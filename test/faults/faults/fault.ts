/** What can be done to a stage, and undone. */
import type { Seeded } from '../seeded.ts';
import type { ChaosNode } from '../stage/node.ts';
import type { Stage } from '../stage/stage.ts';
import type { Timers } from '../stage/timers.ts';

export interface Fault {
  /** The checker knows by its first words whether it excuses a loss: `checker/excuses.ts`. */
  readonly name: string;
  /** What it may be done to. The first word is the part that has no second fault meanwhile. */
  readonly targets: readonly string[];
  /** How long it lasts, at least and at most, as a share of the lease of a seat. */
  readonly lasts: readonly [min: number, max: number];
  /** @returns what ends it */
  readonly begin: (stage: Stage, target: string, random: Seeded) => Promise<() => unknown>;
}

export const NODES = ['node-0', 'node-1', 'node-2'] as const;

/** @throws when no node is the first word of the target. */
export function nodeOf({ nodes }: Stage, target: string): ChaosNode {
  const node = nodes.find(({ id }) => id === target.split(' ')[0]);
  if (node === undefined) throw new Error(`no such node: ${target}`);
  return node;
}

export const leaseShare = (share: number, { userTtlMs }: Timers): number => share * userTtlMs;
