import { heartbeats, shortUserTtl } from './heartbeats.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('heartbeats', { scenarios: heartbeats });
runScenarios('a short userTtlMs', {
  scenarios: shortUserTtl,
  // The ping timeout is long enough for a busy machine.
  options: { userTtlMs: 2_000, tickMs: 300, graceMs: 400, pingIntervalMs: 300, pingTimeoutMs: 2_000 },
  concurrent: true,
});
