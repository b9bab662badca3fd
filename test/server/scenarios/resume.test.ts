import { graceExpiry, resume } from './resume.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('resuming a session', { scenarios: resume });
runScenarios('the end of the grace', {
  scenarios: graceExpiry,
  options: { graceMs: 300, userTtlMs: 60_000, tickMs: 300 },
  concurrent: true,
});
