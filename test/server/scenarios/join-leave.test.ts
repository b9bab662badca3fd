import { joinLeave } from './join-leave.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('joining and leaving', { scenarios: joinLeave });
