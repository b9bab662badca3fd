import { churn } from './churn.ts';
import { ADMIN_TOKEN } from './pool.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('churn', {
  scenarios: churn,
  options: {
    graceMs: 300,
    userTtlMs: 60_000,
    tickMs: 300,
    roomEmptyMs: 300,
    codeCooldownMs: 300,
    adminToken: ADMIN_TOKEN,
  },
});
