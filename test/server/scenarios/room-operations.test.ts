import { ADMIN } from '../http/api/api-client.ts';
import { roomOperations } from './room-operations.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('room operations', { scenarios: roomOperations, options: { adminToken: ADMIN, apiPerMinute: 100_000 } });
