/** Asks Redis to write again and again: a connection that is open does not show that it does. */
import type { Clock, Stop } from '../support/clock.ts';
import { composeScript, luaBeside } from './script.ts';
import type { ScriptRunner } from './script-runner.ts';

/** With the deadline of a call, a store that refuses or is silent is known to do so within 2 s, though no client asks. */
const EVERY_MS = 1_000;

export const loadProbeScript = () => composeScript(luaBeside(import.meta.url)('probe'), []);

export interface WriteProbeOptions {
  readonly runner: ScriptRunner;
  /** What is written. */
  readonly key: string;
  readonly clock: Pick<Clock, 'every'>;
}

/** The outcome is in the health of the runner. Never more than one under way. */
export function startWriteProbe({ runner, key, clock }: WriteProbeOptions): Stop {
  const script = loadProbeScript();
  let underWay = false;
  return clock.every(EVERY_MS, () => {
    if (underWay) return;
    underWay = true;
    void runner.probe(script, key).finally(() => {
      underWay = false;
    });
  });
}
