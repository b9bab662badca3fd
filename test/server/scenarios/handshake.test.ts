import { handshake } from './handshake.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('the handshake', { scenarios: handshake });
