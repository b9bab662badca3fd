import { door } from './scenarios/door.ts';
import { meeting } from './scenarios/meeting.ts';
import { play } from './scenarios/play.ts';

play('the door', { scenarios: door });
play('meeting', { scenarios: meeting });
