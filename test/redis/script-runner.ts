/** A runner of scripts on one connection, whose deadline is not reached and whose health nobody watches. */
import { ScriptRunner, type ScriptRunnerOptions } from '../../src/redis/script-runner.ts';
import { systemClock } from '../../src/support/clock.ts';

export const runnerOn = (
  client: ScriptRunnerOptions['client'],
  options: Partial<ScriptRunnerOptions> = {},
): ScriptRunner =>
  new ScriptRunner({
    client,
    deadlineMs: 60_000,
    messageProblem: () => undefined,
    onChange: () => {},
    onNoPrimary: () => {},
    clock: systemClock,
    ...options,
  });
