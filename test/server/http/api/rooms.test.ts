import { play } from '../../scenarios/run-scenarios.ts';
import { ADMIN } from './caller.ts';
import { rooms } from './rooms.ts';

play('rooms of back ends', {
  scenarios: rooms,
  options: { adminToken: ADMIN, adminTokens: ['other=write:another-token-of-these-tests'], apiPerMinute: 1_000_000 },
});
