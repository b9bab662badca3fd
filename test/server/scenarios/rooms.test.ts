import { door } from './door.ts';
import { meeting } from './meeting.ts';
import { play } from './run-scenarios.ts';

play('the door', { scenarios: door });
play('meeting', { scenarios: meeting });
