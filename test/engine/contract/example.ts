import type { Policy } from '../../../src/room/room.ts';
import type { EngineHarness } from '../harness.ts';

export interface Example {
  readonly name: string;
  readonly policy?: Partial<Policy>;
  readonly perShard?: number;
  run(harness: EngineHarness): Promise<void>;
}

export const example = (
  name: string,
  run: Example['run'],
  circumstances: Pick<Example, 'policy' | 'perShard'> = {},
): Example => ({ name, run, ...circumstances });
