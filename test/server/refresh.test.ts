import { play } from './scenarios/play.ts';
import { lapse, refresh } from './scenarios/refresh.ts';

play('coming back', { scenarios: refresh });
play('not coming back', {
  scenarios: lapse,
  options: { graceMs: 300, userTtlMs: 60_000, tickMs: 300 },
  concurrent: true,
});
