import { ADMIN_TOKEN, codeReuse, pool, recordingLog } from './pool.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('the pool', {
  scenarios: pool,
  options: { poolSize: 100, poolLowWater: 0.97, codeCooldownMs: 500, tickMs: 200, adminToken: ADMIN_TOKEN },
  dependencies: { log: recordingLog },
});
runScenarios('a pool without a cool-down', { scenarios: codeReuse, options: { poolSize: 100, codeCooldownMs: 0 } });
