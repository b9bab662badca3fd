import { hostedOnly, hosting } from './scenarios/hosting.ts';
import { play } from './scenarios/play.ts';
import { signaling } from './scenarios/signaling.ts';

play('signaling', { scenarios: signaling });
play('hosting', { scenarios: hosting });
play('hosting, closing with the host', { scenarios: hostedOnly, options: { closeOnHostLeave: true } });
