import { play } from './run-scenarios.ts';
import { ADMIN_TOKEN, rememberingLog, reuse, stock } from './stock.ts';

play('the pool', {
  scenarios: stock,
  options: { poolSize: 100, poolLowWater: 0.97, codeCooldownMs: 500, tickMs: 200, adminToken: ADMIN_TOKEN },
  dependencies: { log: rememberingLog },
});
play('a pool without a cool-down', { scenarios: reuse, options: { poolSize: 100, codeCooldownMs: 0 } });
