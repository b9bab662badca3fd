import { runScenarios } from './run-scenarios.ts';
import { signaling } from './signaling.ts';

runScenarios('signaling', { scenarios: signaling });
