/** What call records promise, in every database. */
import { onEveryDatabase } from '../database/stage.ts';
import { calls } from './contract/calls.ts';
import { counting } from './contract/counting.ts';
import { large } from './contract/large.ts';
import { lists } from './contract/lists.ts';
import { recording } from './contract/recording.ts';
import { sweeping } from './contract/sweeping.ts';
import { unwritable } from './contract/unwritable.ts';

onEveryDatabase((place) => {
  calls(place);
  lists(place);
  large(place);
  recording(place);
  unwritable(place);
  sweeping(place);
  counting(place);
});
