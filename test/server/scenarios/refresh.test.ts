import { lapse, refresh } from './refresh.ts';
import { play } from './run-scenarios.ts';

play('coming back', { scenarios: refresh });
play('not coming back', {
  scenarios: lapse,
  options: { graceMs: 300, userTtlMs: 60_000, tickMs: 300 },
  concurrent: true,
});
