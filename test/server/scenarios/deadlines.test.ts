import { deadlines } from './deadlines.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('room deadlines', {
  scenarios: deadlines,
  options: { roomEmptyMs: 500, roomIdleMs: 2_500, roomMaxAgeMs: 6_000, tickMs: 300 },
  concurrent: true,
});
