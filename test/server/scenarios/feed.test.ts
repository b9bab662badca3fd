import { feed } from './feed.ts';
import { play } from './run-scenarios.ts';

play('the feed', { scenarios: feed });
