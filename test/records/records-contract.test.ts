/** The contract of the call records, on every database. */
import { onEveryDatabase } from '../database/harness.ts';
import { calls } from './contract/calls.ts';
import { counting } from './contract/counting.ts';
import { large } from './contract/large.ts';
import { lists } from './contract/lists.ts';
import { poisonEvents } from './contract/poison-events.ts';
import { recording } from './contract/recording.ts';
import { sweeping } from './contract/sweeping.ts';

onEveryDatabase((harness) => {
  calls(harness);
  lists(harness);
  large(harness);
  recording(harness);
  poisonEvents(harness);
  sweeping(harness);
  counting(harness);
});
