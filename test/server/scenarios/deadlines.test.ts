import { deadlines } from './deadlines.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('room deadlines', {
  scenarios: deadlines,
  options: { roomEmptyMs: 500, roomIdleMs: 1_000, roomMaxAgeMs: 2_500, tickMs: 300 },
  concurrent: true,
});
