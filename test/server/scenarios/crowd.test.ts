import { crowd } from './crowd.ts';
import { play } from './run-scenarios.ts';
import { ADMIN_TOKEN } from './stock.ts';

play('a crowd', {
  scenarios: crowd,
  options: {
    graceMs: 300,
    userTtlMs: 60_000,
    tickMs: 300,
    roomEmptyMs: 300,
    codeCooldownMs: 300,
    adminToken: ADMIN_TOKEN,
  },
});
