import { deadlines } from './deadlines.ts';
import { play } from './run-scenarios.ts';
import { shortLives, vitalSigns } from './vital-signs.ts';

play('signs of life', { scenarios: vitalSigns });
play('short lives', {
  scenarios: shortLives,
  // The ping waits long enough for a machine that has other things to do.
  options: { userTtlMs: 2_000, tickMs: 300, graceMs: 400, pingIntervalMs: 300, pingTimeoutMs: 2_000 },
  concurrent: true,
});
play('deadlines', {
  scenarios: deadlines,
  options: { roomEmptyMs: 500, roomIdleMs: 1_000, roomMaxAgeMs: 2_500, tickMs: 300 },
  concurrent: true,
});
