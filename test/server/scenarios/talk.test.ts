import { hostedOnly, hosting } from './hosting.ts';
import { play } from './run-scenarios.ts';
import { signaling } from './signaling.ts';

play('signaling', { scenarios: signaling });
play('hosting', { scenarios: hosting });
play('hosting, closing with the host', { scenarios: hostedOnly, options: { closeOnHostLeave: true } });
