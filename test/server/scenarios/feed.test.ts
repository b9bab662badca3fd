import { feed } from './feed.ts';
import { runScenarios } from './run-scenarios.ts';

runScenarios('the feed', { scenarios: feed });
