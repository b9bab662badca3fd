import { ADMIN } from '../http/api/api-client.ts';
import { opaqueData } from './opaque-data.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('opaque data', { options: { adminToken: ADMIN, apiPerMinute: 100_000 }, scenarios: opaqueData });
