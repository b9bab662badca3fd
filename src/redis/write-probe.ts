/** Asks Redis to write again and again: a connection that is open does not show that it does. */
import type { Clock, Stop } from '../support/clock.ts';
import { composeScript, luaBeside, type Script } from './script.ts';
import type { Runner } from './script-runner.ts';
import type { StoreClock } from './store-clock.ts';

/** With the deadline of a call, a store that refuses or is silent is known to do so within 2 s, though no client asks. */
const EVERY_MS = 1_000;

export const loadProbeScript = () => composeScript(luaBeside(import.meta.url)('probe'), []);

export interface WriteProbeOptions {
  readonly runner: Runner;
  /** What is written. */
  readonly key: string;
  /** What is to be permitted: every command that they run. */
  readonly scripts: readonly Script[];
  /** What they publish in, where they do. */
  readonly channel?: string;
  /** Is told the time of Redis with each reply, and when it was asked for. */
  readonly storeClock?: StoreClock;
  readonly clock: Pick<Clock, 'every' | 'monotonic'>;
}

/** The outcome is in the health of the runner. Never more than one under way. */
export function startWriteProbe(options: WriteProbeOptions): Stop {
  const { runner, key, scripts, channel = key, storeClock, clock } = options;
  const script = loadProbeScript();
  const args = [channel, ...commandsOf(scripts)];
  let underWay = false;
  const probe = async (): Promise<void> => {
    if (underWay) return;
    underWay = true;
    const askedAt = clock.monotonic();
    const time = await runner.probe(script, [key], args);
    if (typeof time === 'number') storeClock?.learn(time, askedAt);
    underWay = false;
  };
  // The time is wanted at once. Without that, a client that is still connecting would be told as a store that fails.
  if (storeClock !== undefined) void probe();
  return clock.every(EVERY_MS, () => void probe());
}

/** The names of the commands that scripts run, each once. */
function commandsOf(scripts: readonly Script[]): string[] {
  const calls = scripts.flatMap(({ source }) => [...source.matchAll(/\bredis\.p?call\('([A-Z]+)'/g)]);
  return [...new Set(calls.map(([, name = '']) => name))];
}
