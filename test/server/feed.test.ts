import { feed } from './scenarios/feed.ts';
import { play } from './scenarios/play.ts';

play('the feed', { scenarios: feed });
