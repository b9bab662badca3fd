/** The contract that every engine keeps, as a table of examples. There are no opt-outs. */
import { describe, test } from 'vitest';
import type { Engine, EngineSettings } from '../../src/engine/engine.ts';
import { codes } from './contract/codes.ts';
import type { Example } from './contract/example.ts';
import { feed } from './contract/feed.ts';
import { host } from './contract/host.ts';
import { owner } from './contract/owner.ts';
import { restoring } from './contract/restore.ts';
import { rooms } from './contract/rooms.ts';
import { seats } from './contract/seats.ts';
import { tick } from './contract/tick.ts';
import { users } from './contract/users.ts';
import { createHandClock, EngineHarness, type HandClock, settingsOf } from './harness.ts';

/** An engine over an empty store. The caller closes it. */
export type MakeEngine = (settings: EngineSettings, clock: HandClock) => Promise<Engine>;

export const contract: Readonly<Record<string, readonly Example[]>> = {
  codes,
  rooms,
  seats,
  host,
  owner,
  tick,
  restoring,
  users,
  feed,
};

export function testContract(engine: string, make: MakeEngine): void {
  for (const [part, examples] of Object.entries(contract)) {
    describe(`${engine}: ${part}`, () => {
      for (const example of examples) test(example.name, () => runExample(example, make));
    });
  }
}

export async function runExample(example: Example, make: MakeEngine): Promise<void> {
  const clock = createHandClock();
  const engine = await make(settingsOf(example.perShard, example.policy), clock);
  try {
    await example.run(new EngineHarness(engine, clock));
  } finally {
    await engine.close();
  }
}
