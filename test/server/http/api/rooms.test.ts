import { runScenarios } from '../../scenarios/run-scenarios.ts';
import { ADMIN } from './api-client.ts';
import { rooms } from './room-scenarios.ts';

runScenarios('rooms through the API', {
  scenarios: rooms,
  options: { adminToken: ADMIN, adminTokens: ['other=write:another-token-of-these-tests'], apiPerMinute: 1_000_000 },
});
