import { closeOnHostLeave, hostRole } from './host-role.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('the host role', { scenarios: hostRole });
runScenarios('closeOnHostLeave', { scenarios: closeOnHostLeave, options: { closeOnHostLeave: true } });
